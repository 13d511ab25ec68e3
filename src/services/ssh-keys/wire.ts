/** The few kinds of values that ssh's messages are made of. A value that is not whole is an error, never a guess. */

/** Thrown by the reader; `parseWhole` turns it into undefined. */
class MalformedError extends Error {}

export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.#take(1).readUInt8();
  }

  number(): number {
    return this.#take(4).readUInt32BE();
  }

  /** ssh's "string": a length, then any bytes. */
  bytes(): Buffer {
    return this.#take(this.number());
  }

  text(): string {
    return this.bytes().toString("utf8");
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  #take(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new MalformedError();
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }
}

/** Reads a value that fills the bytes exactly; undefined when they are anything else. */
export function parseWhole<T>(bytes: Buffer, read: (reader: WireReader) => T | undefined): T | undefined {
  const reader = new WireReader(bytes);
  try {
    const value = read(reader);
    return reader.isAtEnd ? value : undefined;
  } catch (error) {
    if (error instanceof MalformedError) return undefined;
    throw error;
  }
}

export function wireNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function wireBytes(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([wireNumber(bytes.length), bytes]);
}
