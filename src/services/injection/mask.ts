/**
 * Takes values out of bytes that come in pieces: every byte of every occurrence becomes `*`, however it is cut, and the
 * number of bytes stays the same. Everything else passes as it is and at once.
 *
 * Bytes that could begin a value are held back until the next bytes tell. A few bytes are not (an eighth of the
 * value, four at most): a message that happens to end with a value's first letter would otherwise wait for ever, and
 * both sides with it. When the rest does follow, the rest is masked.
 */
import type { PatternSet } from "./pattern-set.ts";

const star = 0x2a;
const empty = Buffer.alloc(0);
const slackOf = ({ length }: Buffer): number => Math.min(4, length >> 3);

export class Mask {
  readonly #patterns: PatternSet;
  /** The end of what has come, as it came, for as long as it may be the beginning of a value. */
  #tail: Buffer = empty;
  /** The same, masked as far as is known. */
  #maskedTail: Buffer = empty;
  /** How much of the tail has been passed on. */
  #sent = 0;

  constructor(patterns: PatternSet) {
    this.#patterns = patterns;
  }

  /** The bytes that can be passed on now. */
  next(chunk: Buffer): Buffer {
    const patterns = this.#patterns;
    const bytes = this.#tail.length > 0 ? Buffer.concat([this.#tail, chunk]) : chunk;
    const before = this.#maskedTail === this.#tail ? bytes : Buffer.concat([this.#maskedTail, chunk]);
    const masked = maskBytes(patterns, bytes, before);
    const open = patterns.openEnd(bytes);
    const held = open === bytes.length ? open : patterns.openEnd(bytes, slackOf);
    const upTo = Math.max(held, this.#sent);
    const out = masked.subarray(this.#sent, upTo);
    // Copies, because a tail of a few bytes would keep the whole chunk in memory.
    this.#tail = open === bytes.length ? empty : Buffer.from(bytes.subarray(open));
    this.#maskedTail =
      masked === bytes || open === bytes.length ? this.#tail : Buffer.from(masked.subarray(open));
    this.#sent = upTo - open;
    return out;
  }

  /** Nothing more comes: what was held back was no value. */
  rest(): Buffer {
    const rest = this.#maskedTail.subarray(this.#sent);
    this.#tail = this.#maskedTail = empty;
    this.#sent = 0;
    return rest;
  }
}

/** Stars over every occurrence in `bytes`; `into` is `bytes` itself, or what has been masked of them before. */
function maskBytes(patterns: PatternSet, bytes: Buffer, into: Buffer): Buffer {
  let masked = into;
  patterns.search(bytes, (start, end) => {
    if (masked === bytes) masked = Buffer.from(bytes);
    masked.fill(star, start, end);
    return undefined;
  });
  return masked;
}

/** The same for a text whose characters are bytes, such as a header. */
export function maskText(patterns: PatternSet, text: string): string {
  const bytes = Buffer.from(text, "latin1");
  const masked = maskBytes(patterns, bytes, bytes);
  return masked === bytes ? text : masked.toString("latin1");
}
