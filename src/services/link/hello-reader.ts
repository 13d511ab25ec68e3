/**
 * Reads the first frame of a connection and not one byte more: what follows may be a program's own bytes. A first
 * frame that is too large, of the wrong kind or no JSON is a violation.
 */
import type { Socket } from "node:net";
import { messageOf } from "../../base/errors.ts";
import { decodeJson, frameKind } from "../../contract/link/codec.ts";

const headBytes = 5;
/** SECURITY: the peer is not known yet; a hello is small, and nothing larger is kept for one. */
const maxHelloBytes = 4096;

export interface HelloEvents {
  /** The connection is still, and everything after the hello is still to be read from it. */
  hello(value: unknown): void;
  violated(reason: string): void;
}

export function readHello(socket: Socket, events: HelloEvents): void {
  let length: number | undefined;
  const fail = (reason: string): void => {
    socket.off("readable", read);
    events.violated(reason);
  };
  const read = (): void => {
    if (length === undefined) {
      const head = socket.read(headBytes) as Buffer | null;
      if (head === null || head.length < headBytes) return;
      length = head.readUInt32BE(0) - 1;
      if (head[4] !== frameKind.json || length < 1 || length > maxHelloBytes)
        return fail("a first frame that is no hello");
    }
    const payload = socket.read(length) as Buffer | null;
    // Shorter only when the connection has ended in the middle.
    if (payload === null || payload.length < length) return;
    let value: unknown;
    try {
      value = decodeJson(payload);
    } catch (error) {
      return fail(`a first frame that is no hello: ${messageOf(error)}`);
    }
    socket.off("readable", read);
    // A stream that was read by hand can be taken over one tick later; before, it would ignore a pause.
    process.nextTick(() => {
      if (!socket.destroyed) events.hello(value);
    });
  };
  socket.on("error", () => undefined);
  socket.on("readable", read);
}
