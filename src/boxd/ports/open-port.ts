import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { AgentBoxError } from "../../base/errors.ts";
import { type Frame, frameKind } from "../../contract/link/codec.ts";
import type { OpenPortOp } from "../../contract/link/messages.ts";
import type { Activity } from "../activity.ts";
import type { Connection } from "../connection.ts";

const connectMs = 5_000;

/** Joins a stream and one connection to a program in the box, with back pressure both ways. */
export async function servePort(connection: Connection, op: OpenPortOp, activity: Activity): Promise<void> {
  connection.pause();
  const socket = await dial(op.port);
  let isOver = false;
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    connection.end({ type: "end" });
  };
  socket.on("data", (chunk: Buffer) => {
    activity.touch();
    if (!connection.write(frameKind.data, chunk)) socket.pause();
  });
  socket.on("drain", () => connection.resume());
  socket.on("error", () => undefined);
  socket.on("end", finish);
  socket.on("close", finish);
  connection.onDrain(() => socket.resume());
  connection.onClose(() => socket.destroy());
  connection.onFrame((frame: Frame) => {
    activity.touch();
    if (frame.kind === frameKind.eof) socket.end();
    else if (frame.kind === frameKind.data && !socket.write(frame.payload)) connection.pause();
  });
  connection.send({ type: "started" });
  if (!connection.isOpen) socket.destroy();
  connection.resume();
}

/** SECURITY: loopback only, by number: what the host asks for can be a port, and never a name or another address. */
async function dial(port: number): Promise<Socket> {
  for (const host of ["127.0.0.1", "::1"]) {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    try {
      await once(socket, "connect", { signal: AbortSignal.timeout(connectMs) });
      return socket;
    } catch {
      socket.on("error", () => undefined);
      socket.destroy();
    }
  }
  throw new AgentBoxError("port.closed", `Nothing in the box listens on port ${port}.`);
}
