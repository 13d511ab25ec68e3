/** Joins two sockets: bytes both ways with back pressure, half-close kept, closed when nothing moves for too long. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isRelayed } from "./dialer.ts";

export interface TunnelOptions {
  readonly idleMs: number;
  /** Exactly once, when both sides are closed. */
  readonly onEnd: () => void;
}

/** The server's words reach the program at once; the program's words wait for `openTunnel`. */
export function joinSockets(client: Duplex, upstream: Socket, { idleMs, onEnd }: TunnelOptions): void {
  let open = 2;
  const closed = (): void => {
    if (--open === 0) onEnd();
  };
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.destroy());
  client.once("close", () => {
    // What the program has sent still reaches the server, unless the server's answer has lost its reader.
    if (!upstream.readableEnded) upstream.destroy();
    closed();
  });
  upstream.once("close", () => {
    // The server's end may have ended it already; to end it twice would be an error, made and thrown away.
    if (client.writableFinished || client.destroyed) {
      if (!client.readableEnded) client.destroy();
    } else if (client.readableEnded) client.end();
    else client.end(() => client.destroy());
    closed();
  });
  upstream.setTimeout(idleMs, () => {
    upstream.destroy();
    client.destroy();
  });
  if ("allowHalfOpen" in client) client.allowHalfOpen = true;
  if (!isRelayed(upstream)) {
    upstream.pipe(client);
    return;
  }
  client.on("drain", () => upstream.resume());
  upstream.once("end", () => client.end());
  upstream.resume();
}

export function openTunnel(client: Duplex, upstream: Socket): void {
  client.pipe(upstream);
}
