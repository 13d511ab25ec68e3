import fc from "fast-check";
import { expect, test } from "vitest";
import { OutputRing } from "./output-ring.ts";

function readFrom(ring: OutputRing, offset: number): string {
  let text = "";
  for (let at = offset; at < ring.total; ) {
    const piece = ring.read(at)!;
    text += Buffer.from(piece.bytes).toString("latin1");
    at += piece.bytes.length;
  }
  return text;
}

test("every byte that is still there is found at its offset", () => {
  const chunk = fc.record({
    bytes: fc.uint8Array({ minLength: 1, maxLength: 12_000 }),
    channel: fc.constantFrom(1 as const, 2 as const),
  });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 40 }), (chunks) => {
      const ring = new OutputRing(64 * 1024);
      let all = "";
      for (const { bytes, channel } of chunks) {
        ring.append(bytes, channel);
        all += Buffer.from(bytes).toString("latin1");
      }
      expect(ring.total).toBe(all.length);
      expect(readFrom(ring, ring.oldest) === all.slice(ring.oldest)).toBe(true);
      expect(ring.read(ring.oldest - 1)).toBeUndefined();
      expect(ring.read(ring.total)).toBeUndefined();
    }),
  );
});

test("one byte at a time on changing channels takes no more memory than the ring has", () => {
  const ring = new OutputRing(64 * 1024);
  for (let index = 0; index < 10_000; index += 1)
    ring.append(Buffer.from([index & 0xff]), index % 2 === 0 ? 1 : 2);
  expect(ring.total - ring.oldest).toBeLessThanOrEqual(8);
  expect(ring.read(ring.total - 1)).toMatchObject({ channel: 2, start: 9_999 });
});

test("listeners hear of output and of the end until they leave", () => {
  const ring = new OutputRing();
  let heard = 0;
  const leave = ring.subscribe(() => (heard += 1));
  ring.append(Buffer.from("a"), 1);
  ring.end();
  leave();
  ring.append(Buffer.from("b"), 1);
  expect(heard).toBe(2);
});
