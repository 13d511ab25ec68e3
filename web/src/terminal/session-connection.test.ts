import { beforeEach, afterEach, expect, test, vi } from "vitest";
import { AgentBoxError } from "../../../src/base/errors.ts";
import type { Stream } from "../../../src/client/transport.ts";
import { type ConnectionState, SessionConnection } from "./session-connection.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeStream implements Stream {
  readonly sent: string[] = [];
  #text: (text: string) => void = () => undefined;
  #close: (error?: Error) => void = () => undefined;
  data: (chunk: Uint8Array, channel: number) => void = () => undefined;
  isClosed = false;
  sendText = (text: string) => void this.sent.push(text);
  sendData = (chunk: Uint8Array) => this.sent.push(new TextDecoder().decode(chunk)) > 0;
  endInput = () => undefined;
  onText = (listener: (text: string) => void) => void (this.#text = listener);
  onData = (listener: (chunk: Uint8Array, channel: number) => void) => void (this.data = listener);
  onDrain = () => undefined;
  onClose = (listener: (error?: Error) => void) => void (this.#close = listener);
  pause = () => undefined;
  resume = () => undefined;
  close = () => void (this.isClosed = true);
  say = (message: object) => this.#text(JSON.stringify(message));
  lose = () => this.#close();
}

function ground({ isReadOnly = false, refusals = [] as Error[] } = {}) {
  const streams: FakeStream[] = [];
  const states: ConnectionState["phase"][] = [];
  const dropped: number[] = [];
  const connection = new SessionConnection({
    isReadOnly,
    attach: async () => {
      const refusal = refusals.shift();
      if (refusal) throw refusal;
      streams.push(new FakeStream());
      return streams.at(-1)!;
    },
    events: {
      size: () => ({ cols: 80, rows: 24 }),
      state: ({ phase }) => void states.push(phase),
      began: () => undefined,
      sized: () => undefined,
      data: () => undefined,
      dropped: (keys) => void dropped.push(keys),
    },
  });
  return { connection, streams, states, dropped };
}

const turn = () => vi.advanceTimersByTimeAsync(0);

test("keys go to a live session; while it is lost they are counted, and never sent later", async () => {
  const { connection, streams, states, dropped } = ground();
  await turn();
  streams[0]!.say({ type: "started" });
  connection.type("a");
  expect(streams[0]!.sent).toEqual(["a"]);
  streams[0]!.lose();
  connection.type("bc");
  connection.type("\u001b[A");
  expect(dropped).toEqual([2, 3]);
  await vi.advanceTimersByTimeAsync(250);
  expect(streams).toHaveLength(2);
  connection.type("d");
  streams[1]!.say({ type: "started" });
  connection.type("e");
  expect(streams[1]!.sent).toEqual(["e"]);
  expect(dropped.at(-1)).toBe(4);
  expect(states).toEqual(["connecting", "live", "lost", "connecting", "live"]);
});

test("it tries again with growing pauses, until it is closed", async () => {
  const refusals = Array.from({ length: 3 }, () => new AgentBoxError("daemon.unreachable", "Away."));
  const { connection, streams } = ground({ refusals });
  await vi.advanceTimersByTimeAsync(250 + 500 + 999);
  expect(streams).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(streams).toHaveLength(1);
  connection.close();
  streams[0]!.lose();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(streams).toHaveLength(1);
});

test("an end is an end, and so is a refusal that would come again", async () => {
  const ended = ground();
  await turn();
  ended.streams[0]!.say({ type: "exit", code: 3, signal: null, timedOut: false });
  ended.streams[0]!.lose();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ended.states).toEqual(["connecting", "ended"]);
  const refused = ground();
  await turn();
  refused.streams[0]!.say({ type: "error", error: { code: "session.not_found", message: "No." } });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(refused.states).toEqual(["connecting", "refused"]);
});

test("a large paste goes in pieces that the daemon takes", async () => {
  const { connection, streams } = ground();
  await turn();
  streams[0]!.say({ type: "started" });
  connection.type("x".repeat(100_000));
  expect(streams[0]!.sent.map((piece) => piece.length)).toEqual([65_536, 34_464]);
});

test("a reader sends neither keys nor sizes", async () => {
  const { connection, streams, dropped } = ground({ isReadOnly: true });
  await turn();
  streams[0]!.say({ type: "started" });
  connection.type("a");
  connection.sendBytes(new Uint8Array([1]));
  connection.resize({ cols: 1, rows: 1 });
  streams[0]!.lose();
  connection.type("b");
  expect(streams[0]!.sent).toEqual([]);
  expect(dropped).toEqual([]);
});
