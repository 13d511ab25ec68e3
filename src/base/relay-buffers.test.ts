import { describe, expect, it } from "vitest";
import { RelayBuffers } from "./relay-buffers.ts";

/** A sink that keeps what it was given until it is told to finish. */
function openSink(isOpen = true) {
  const pending: { chunk: Uint8Array; done: () => void }[] = [];
  return {
    pending,
    write(chunk: Uint8Array, done: () => void): boolean {
      pending.push({ chunk, done });
      return isOpen;
    },
  };
}

describe("RelayBuffers", () => {
  it("writes exactly what was read, from where it lies", () => {
    const sink = openSink();
    const relay = new RelayBuffers().into(sink);
    const bytes = relay.buffer();
    bytes.set([1, 2, 3]);
    expect(relay.callback(3, bytes)).toBe(true);
    expect([...(sink.pending[0]?.chunk ?? [])]).toEqual([1, 2, 3]);
    expect(sink.pending[0]?.chunk.buffer).toBe(bytes.buffer);
  });

  it("says when to stop reading", () => {
    const relay = new RelayBuffers().into(openSink(false));
    expect(relay.callback(1, relay.buffer())).toBe(false);
  });

  it("uses a piece again only when it has been written", () => {
    const sink = openSink();
    const relay = new RelayBuffers().into(sink);
    const small = relay.buffer();
    relay.callback(small.length, small);
    const first = relay.buffer();
    expect(first.length).toBeGreaterThan(small.length);
    relay.callback(first.length, first);
    const second = relay.buffer();
    expect(second === first).toBe(false);
    sink.pending.at(-1)?.done();
    relay.callback(second.length, second);
    expect(relay.buffer() === first).toBe(true);
  });

  it("holds little for a connection that has become quiet", () => {
    const relay = new RelayBuffers().into(openSink());
    const small = relay.buffer();
    relay.callback(small.length, small);
    relay.callback(1, relay.buffer());
    expect(relay.buffer().length).toBe(small.length);
  });
});
