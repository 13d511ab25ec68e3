import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import type { LinkStream } from "../../ports/link.ts";
import { Inbox, relay } from "./socket-stream.ts";

class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly texts: string[] = [];
  isClosed = false;
  pause = () => undefined;
  resume = () => undefined;
  close = () => void (this.isClosed = true);
  send(data: string | Buffer, sent?: () => void): void {
    if (typeof data === "string") this.texts.push(data);
    sent?.();
  }
  say = (message: object) => void this.emit("message", Buffer.from(JSON.stringify(message)), false);
}

function ground() {
  const socket = new FakeSocket();
  const log: string[] = [];
  let output: (chunk: Uint8Array, channel: 1 | 2) => void = () => undefined;
  const stream: LinkStream = {
    onData: (listener) => void (output = listener),
    onMessage: () => undefined,
    onClose: () => undefined,
    onDrain: () => undefined,
    write: () => true,
    send: (message) => void log.push(message.type),
    endInput: () => undefined,
    pause: () => void log.push("paused"),
    resume: () => void log.push("resumed"),
    close: () => undefined,
  };
  const client = socket as unknown as WebSocket;
  void relay(client, new Inbox(client), stream, () => ({ type: "started" }));
  return { socket, log, print: () => output(new Uint8Array(8), 1) };
}

test("a browser holds a box's output back, and what was sent meanwhile does not let it go on", () => {
  const { socket, log, print } = ground();
  print();
  expect(log).toEqual(["resumed"]);
  socket.say({ type: "pause" });
  print();
  expect(log).toEqual(["resumed", "paused"]);
  socket.say({ type: "resume" });
  print();
  expect(log).toEqual(["resumed", "paused", "resumed", "resumed"]);
});

test("what is the box's goes to the box, and what is nobody's ends the stream", () => {
  const { socket, log } = ground();
  socket.say({ type: "resize", cols: 10, rows: 10 });
  expect(log).toEqual(["resize"]);
  socket.say({ type: "stop" });
  expect(log).toEqual(["resize"]);
  expect(socket.isClosed).toBe(true);
  expect(socket.texts[0]).toContain("input.invalid");
});
