import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAgentBoxError } from "../../base/errors.ts";
import { BindingTable } from "./binding-table.ts";
import { binding, box, destination, tokenOf } from "./injection.fixture.ts";
import { WebSocketScan } from "./websocket-scan.ts";

const bearer = binding(destination({ kind: "bearer" }));
const token = tokenOf(bearer);
const table = new BindingTable();
table.set(box, [bearer]);

/** A frame as a program sends it. */
function frame(payload: Buffer, opcode = 0x81): Buffer {
  const mask = Buffer.from([0x11, 0x9f, 0x42, 0xe0]);
  const length = Buffer.alloc(payload.length < 126 ? 1 : payload.length < 65_536 ? 3 : 9);
  length[0] = 0x80 | (length.length === 1 ? payload.length : length.length === 3 ? 126 : 127);
  if (length.length === 3) length.writeUInt16BE(payload.length, 1);
  if (length.length === 9) length.writeBigUInt64BE(BigInt(payload.length), 1);
  return Buffer.concat([Buffer.from([opcode]), length, mask, payload.map((byte, i) => byte ^ mask[i & 3]!)]);
}

async function scan(chunks: readonly Buffer[]) {
  const passed: Buffer[] = [];
  try {
    const stream = new WebSocketScan(table.find(box)!.marks);
    for await (const chunk of Readable.from(chunks).pipe(stream)) passed.push(chunk as Buffer);
    return { passed: Buffer.concat(passed), isRefused: false };
  } catch (error) {
    if (!isAgentBoxError(error, "secret.misplaced")) throw error;
    return { passed: Buffer.concat(passed), isRefused: true };
  }
}

describe("messages over a WebSocket", () => {
  it("pass byte for byte without a placeholder, and not with one, however they are cut", async () => {
    const sizes = fc.constantFrom(0, 1, 125, 126, 300, 66_000);
    await fc.assert(
      fc.asyncProperty(
        fc.array(sizes, { maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        async (lengths, cuts) => {
          const cut = (bytes: Buffer): Buffer[] => {
            const ends = [...cuts.map((at) => at % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
            return ends
              .map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end))
              .filter((one) => one.length > 0);
          };
          const clean = Buffer.concat([
            ...lengths.map((size) => frame(Buffer.alloc(size, "text"))),
            frame(Buffer.from("x")),
          ]);
          const { passed, isRefused } = await scan(cut(clean));
          expect([passed.equals(clean), isRefused]).toEqual([true, false]);
          const half = token.length >> 1;
          const dirty = Buffer.concat([
            clean,
            frame(Buffer.from(`a${token.slice(0, half)}`), 0x01),
            frame(Buffer.from("ping"), 0x89),
            frame(Buffer.from(token.slice(half)), 0x80),
          ]);
          expect(await scan(cut(dirty))).toMatchObject({ isRefused: true });
        },
      ),
      { numRuns: 60 },
    );
  });
});
