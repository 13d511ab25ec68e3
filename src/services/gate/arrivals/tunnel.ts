/** Joins two sockets: bytes both ways with back pressure, half-close kept, closed when nothing moves for too long. */
import type { Socket } from "node:net";
import type { Duplex, Transform } from "node:stream";
import { isRelayed } from "../servers/connect.ts";

export interface TunnelOptions {
  readonly idleMs: number;
  /** Exactly once, when both sides are closed. */
  readonly onEnd: () => void;
  /** The stream that the server's bytes go through on their way to the program. */
  readonly through?: Transform | undefined;
}

/** The server's words reach the program at once; the program's words wait for `openTunnel`. */
export function joinSockets(
  client: Duplex,
  upstream: Socket,
  { idleMs, onEnd, through }: TunnelOptions,
): void {
  let open = 2;
  const closed = (): void => {
    if (--open === 0) onEnd();
  };
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.destroy());
  client.once("close", () => {
    // Bytes that the program has sent still reach the server, unless the server's answer has lost its reader.
    if (!upstream.readableEnded) upstream.destroy();
    closed();
  });
  const finish = (): void => {
    // The server's end may have ended it already; to end it twice would be an error, made and thrown away.
    if (client.writableFinished || client.destroyed) {
      if (!client.readableEnded) client.destroy();
    } else if (client.readableEnded) client.end();
    else client.end(() => client.destroy());
    closed();
  };
  upstream.once("close", () => {
    // Bytes that are still on their way must arrive before the program's end is closed.
    if (through !== undefined && upstream.readableEnded && !through.readableEnded && !client.destroyed)
      through.once("close", finish);
    else finish();
  });
  upstream.setTimeout(idleMs, () => {
    upstream.destroy();
    client.destroy();
  });
  if ("allowHalfOpen" in client) client.allowHalfOpen = true;
  if (!isRelayed(upstream)) {
    if (through === undefined) upstream.pipe(client);
    else pipeThrough(upstream, through, client);
    return;
  }
  client.on("drain", () => upstream.resume());
  upstream.once("end", () => client.end());
  upstream.resume();
}

export function openTunnel(client: Duplex, upstream: Socket, through?: Transform): void {
  if (through === undefined) client.pipe(upstream);
  else pipeThrough(client, through, upstream);
}

/** SECURITY: where what stands between fails, both ends close, and nothing goes past it. */
function pipeThrough(from: Duplex, through: Transform, to: Duplex): void {
  through.on("error", () => {
    from.destroy();
    to.destroy();
  });
  from.once("close", () => {
    if (!from.readableEnded) through.destroy();
  });
  to.once("close", () => through.destroy());
  from.pipe(through).pipe(to);
}
