/**
 * Looks for placeholders in what a program sends over a WebSocket. Every byte passes as it came, except what completes a
 * placeholder. Packed messages are not looked into: to bound destinations none are agreed on.
 */
import { Transform, type TransformCallback } from "node:stream";
import type { Marks } from "./marks.ts";
import { PlaceholderFinder, found } from "./placeholder-finder.ts";

interface Frame {
  readonly isControl: boolean;
  readonly mask: Buffer;
  readonly length: number;
}

export class WebSocketScan extends Transform {
  readonly #finder: PlaceholderFinder;
  /** The beginning of a frame whose head is not whole yet. */
  #head: Buffer = Buffer.alloc(0);
  #frame: Frame | undefined;
  #seen = 0;

  constructor(marks: Marks) {
    super();
    this.#finder = new PlaceholderFinder(marks);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#frame === undefined) {
        const before = this.#head.length;
        this.#head = Buffer.concat([this.#head, rest.subarray(0, maxHead - before)]);
        const read = readHead(this.#head);
        if (read === undefined) break;
        rest = rest.subarray(read.headLength - before);
        this.#head = Buffer.alloc(0);
        this.#seen = 0;
        this.#frame = read.frame.length > 0 ? read.frame : undefined;
        continue;
      }
      const payload = rest.subarray(0, this.#frame.length - this.#seen);
      const secret = this.#frame.isControl
        ? undefined
        : this.#finder.next(this.#unmasked(payload, this.#frame));
      if (secret !== undefined) return done(found(secret));
      this.#seen += payload.length;
      if (this.#seen === this.#frame.length) this.#frame = undefined;
      rest = rest.subarray(payload.length);
    }
    done(null, chunk);
  }

  #unmasked(payload: Buffer, { mask }: Frame): Buffer {
    const plain = Buffer.allocUnsafe(payload.length);
    for (let i = 0; i < payload.length; i += 1) plain[i] = payload[i]! ^ mask[(this.#seen + i) & 3]!;
    return plain;
  }
}

const maxHead = 14;
const unmasked = Buffer.alloc(4);

/** Undefined: there is more of it to come. */
function readHead(bytes: Buffer): { readonly frame: Frame; readonly headLength: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1]! & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const isMasked = (bytes[1]! & 0x80) !== 0;
  const headLength = 2 + lengthBytes + (isMasked ? 4 : 0);
  if (bytes.length < headLength) return undefined;
  const length =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const mask = isMasked ? Buffer.from(bytes.subarray(headLength - 4, headLength)) : unmasked;
  return { frame: { isControl: (bytes[0]! & 0x08) !== 0, mask, length }, headLength };
}
