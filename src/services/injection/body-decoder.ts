/** Reads bodies that are packed: gzip, deflate (with and without the zlib head) and brotli. */
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";

export type BodyEncoding = "identity" | "gzip" | "deflate" | "br";

/** The names HTTP knows; undefined: packed in a way, or so often, that it cannot be read here. */
export function bodyEncoding(
  headers: readonly string[],
  ignored: readonly string[] = [],
): BodyEncoding | undefined {
  const names: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() !== "content-encoding") continue;
    for (const name of headers[i + 1]!.toLowerCase().split(",")) names.push(name.trim());
  }
  const packed = names.filter((name) => name !== "identity" && name !== "" && !ignored.includes(name));
  if (packed.length === 0) return "identity";
  return packed.length === 1 ? known.get(packed[0]!) : undefined;
}

const known: ReadonlyMap<string, BodyEncoding> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
]);

/** `firstByte` tells the two forms of deflate apart: servers send either under the one name. */
export function openDecoder(encoding: Exclude<BodyEncoding, "identity">, firstByte: number): Transform {
  if (encoding === "gzip") return createGunzip();
  if (encoding === "br") return createBrotliDecompress();
  return (firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw();
}
