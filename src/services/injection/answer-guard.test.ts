import { Readable, type Transform } from "node:stream";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { binding, canary, injected, destination, setUp } from "./injection.fixture.ts";

const basic = binding(destination({ kind: "basic", username: "git" }));
const stars = "*".repeat(canary.length);
const guard = async (method = "GET") => injected(await setUp([basic]).prepare({ method })).answer;

async function through(body: Transform | undefined, chunks: readonly (Buffer | string)[]): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of Readable.from(chunks.map((chunk) => Buffer.from(chunk))).pipe(body!))
    parts.push(chunk as Buffer);
  return Buffer.concat(parts).toString("latin1");
}

describe("an answer", () => {
  it("has no value in its head, and sets no cookie", async () => {
    const encoded = Buffer.from(`git:${canary}`).toString("base64");
    const opened = (await guard()).open(302, [
      "Location",
      `https://evil.example/?t=${encodeURIComponent(canary)}&u=${canary}`,
      "Set-Cookie",
      "session=1",
      "set-cookie",
      "b=2",
      "Alt-Svc",
      'h2=":8443"',
      "WWW-Authenticate",
      `Basic ${encoded}`,
      `X-${canary}`,
      "y",
      "Content-Length",
      "12",
    ]);
    expect(opened?.headers).toEqual([
      "Location",
      `https://evil.example/?t=${"*".repeat(encodeURIComponent(canary).length)}&u=${stars}`,

      "WWW-Authenticate",
      `Basic ${"*".repeat(encoded.replaceAll("=", "").length)}${encoded.replaceAll(/[^=]/g, "")}`,
      `X-${stars}`,
      "y",
      "Content-Length",
      "12",
    ]);
  });

  it("has no value in its body, however it is cut", async () => {
    const opened = (await guard()).open(400, ["Content-Type", "text/plain"]);
    const text = `bad credential: ${canary}!`;
    expect(await through(opened?.body, [text.slice(0, 30), text.slice(30)])).toBe(
      `bad credential: ${stars}!`,
    );
    expect(await through((await guard()).stream(), [canary, "tail"])).toBe(`${stars}tail`);
  });

  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["Deflate", deflateRawSync],
    ["br", brotliCompressSync],
  ])("is unpacked from %s", async (encoding, pack) => {
    const headers = ["Content-Encoding", encoding, "Content-Length", "9", "Content-MD5", "x", "X", "y"];
    const opened = (await guard()).open(200, headers);
    expect(opened?.headers).toEqual(["X", "y"]);
    const long = "some text ".repeat(100_000);
    const packed = pack(`${long}${canary}.`);
    const chunks = [packed.subarray(0, 7), packed.subarray(7, 900), packed.subarray(900)];
    expect(await through(opened?.body, chunks)).toBe(`${long}${stars}.`);
  });

  it("is unpacked only as far as it is read", async () => {
    const open = async () => (await guard()).open(200, ["Content-Encoding", "gzip"])!.body!;
    const body = await open();
    const packed = gzipSync(Buffer.alloc(64 << 20));
    body.write(packed);
    // By the time that another one has been read to its end, this one would be unpacked too.
    expect(await through(await open(), [packed])).toHaveLength(64 << 20);
    expect(body.readableLength).toBeLessThan(1 << 20);
    let size = 0;
    body.on("data", (chunk: Buffer) => (size += chunk.length));
    body.end();
    await new Promise((resolve) => body.once("end", resolve));
    expect(size).toBe(64 << 20);
  });

  it("does not pass when it is packed in another way, unless it has no body", async () => {
    for (const encoding of ["zstd", "gzip, gzip", "compress"]) {
      expect((await guard()).open(200, ["Content-Encoding", encoding])).toBeUndefined();
      expect((await guard("HEAD")).open(200, ["Content-Encoding", encoding])).toBeDefined();
      expect((await guard()).open(304, ["Content-Encoding", encoding])).toBeDefined();
    }
    expect((await guard()).open(200, ["Content-Encoding", "identity"])).toBeDefined();
  });

  it("without a body ends", async () => {
    for (const [method, status] of [
      ["HEAD", 200],
      ["GET", 204],
      ["GET", 304],
      ["GET", 200],
    ] as const) {
      const opened = (await guard(method)).open(status, ["Content-Encoding", "gzip"]);
      expect(await through(opened?.body, [])).toBe("");
    }
  });

  it("that is broken ends with an error", async () => {
    const opened = (await guard()).open(200, ["Content-Encoding", "gzip"]);
    await expect(through(opened?.body, ["not packed"])).rejects.toThrow();
  });
});
