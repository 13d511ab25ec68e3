import { Readable } from "node:stream";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAgentBoxError } from "../../base/errors.ts";
import { BindingTable } from "./binding-table.ts";
import type { BodyEncoding } from "./body-decoder.ts";
import { binding, box, destination, tokenOf } from "./injection.fixture.ts";
import { PlaceholderScan } from "./placeholder-scan.ts";

const bearer = binding(destination({ kind: "bearer" }));
const aws = binding(destination({ kind: "aws" }), { name: "cloud" });
const token = tokenOf(bearer);
const table = new BindingTable();
table.set(box, [bearer, aws]);
const { marks } = table.find(box)!;

/** The bytes that pass, and whether it ended in a refusal. */
async function scan(chunks: readonly Buffer[], encoding: BodyEncoding = "identity") {
  const passed: Buffer[] = [];
  const stream = Readable.from(chunks, { objectMode: false }).pipe(new PlaceholderScan(marks, encoding));
  try {
    for await (const chunk of stream) passed.push(chunk as Buffer);
    return { passed: Buffer.concat(passed), isRefused: false };
  } catch (error) {
    if (!isAgentBoxError(error, "secret.misplaced")) throw error;
    return { passed: Buffer.concat(passed), isRefused: true };
  }
}

function cut(bytes: Buffer, cutsAt: readonly number[]): Buffer[] {
  const ends = [...cutsAt.map((at) => at % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

const text = fc.string({ maxLength: 40 });
const cuts = fc.array(fc.nat(), { maxLength: 8 });
const packers = {
  gzip: [gzipSync],
  deflate: [deflateSync, deflateRawSync],
  br: [brotliCompressSync],
} as const;

describe("a request's body", () => {
  it("passes byte for byte without a placeholder, and never whole with one", async () => {
    await fc.assert(
      fc.asyncProperty(text, text, cuts, async (before, after, cutsAt) => {
        const clean = Buffer.from(`${before}agentbox0123${after}`);
        expect(await scan(cut(clean, cutsAt))).toEqual({ passed: clean, isRefused: false });
        const dirty = cut(Buffer.from(`${before}${token}${after}`), cutsAt);
        const { passed, isRefused } = await scan(dirty);
        expect(isRefused).toBe(true);
        expect(passed.includes(token)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it("is looked at inside base64, and for every placeholder of the box", async () => {
    for (const pad of ["", "x", "xy"])
      expect(await scan([Buffer.from(Buffer.from(`${pad}${token}!`).toString("base64url"))])).toMatchObject({
        isRefused: true,
      });
    const id = table.find(box)!.destinations.find(({ binding: { name } }) => name === "cloud")!.placeholder;
    expect((await scan([Buffer.from(id.accessKeyId!)])).isRefused).toBe(true);
    expect((await scan([Buffer.from(id.token)])).isRefused).toBe(true);
  });

  it.each(["gzip", "deflate", "br"] as const)("is looked at inside %s", async (encoding) => {
    for (const pack of packers[encoding]) {
      await fc.assert(
        fc.asyncProperty(text, text, cuts, async (before, after, cutsAt) => {
          const clean = pack(Buffer.from(`${before}nothing${after}`));
          expect(await scan(cut(clean, cutsAt), encoding)).toEqual({ passed: clean, isRefused: false });
          const dirty = pack(Buffer.from(`${before}${token}${after}`));
          const { passed, isRefused } = await scan(cut(dirty, cutsAt), encoding);
          expect(isRefused).toBe(true);
          expect(passed.length).toBeLessThan(dirty.length);
        }),
        { numRuns: 60 },
      );
    }
  });

  it("is looked at behind the first and behind the last packed part", async () => {
    const clean = gzipSync("nothing");
    expect((await scan([Buffer.concat([clean, gzipSync("x")])], "gzip")).isRefused).toBe(false);
    expect((await scan([Buffer.concat([clean, gzipSync(token)])], "gzip")).isRefused).toBe(true);
    for (const encoding of ["gzip", "deflate", "br"] as const) {
      const packed = packers[encoding][0]("nothing");
      // Whether this is taken or refused is the decoder's to say; it must not wait for ever.
      await scan([packed, Buffer.from("more"), Buffer.from("and more")], encoding);
      expect((await scan([packed, Buffer.from(token)], encoding)).isRefused).toBe(true);
    }
  });

  it("is refused when it unpacks to too much, or is not what it says", async () => {
    const large = Buffer.alloc(900 * 1024, "some text ");
    expect((await scan([gzipSync(large)], "gzip")).isRefused).toBe(false);
    expect((await scan([gzipSync(Buffer.alloc(8 << 20))], "gzip")).isRefused).toBe(true);
    expect((await scan([Buffer.from("plain text")], "gzip")).isRefused).toBe(true);
    expect((await scan([gzipSync("cut off").subarray(0, 12)], "gzip")).isRefused).toBe(true);
    expect((await scan([], "gzip")).isRefused).toBe(false);
  });

  it("may be long and come slowly", async () => {
    const packed = gzipSync(Buffer.from(Array.from({ length: 200_000 }, (_, i) => `line ${i}\n`).join("")));
    const chunks = cut(
      packed,
      Array.from({ length: 400 }, (_, i) => i * 997),
    );
    expect((await scan(chunks, "gzip")).passed.equals(packed)).toBe(true);
  });
});
