/** A body without values in it: as many bytes as come in, or what they unpack to. */
import { Transform, type TransformCallback } from "node:stream";
import { type BodyEncoding, openDecoder } from "./body-decoder.ts";
import { Mask } from "./mask.ts";
import type { PatternSet } from "./pattern-set.ts";

export class MaskedStream extends Transform {
  readonly #mask: Mask;

  constructor(patterns: PatternSet) {
    super();
    this.#mask = new Mask(patterns);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(null, orNone(this.#mask.next(chunk)));
  }

  override _flush(done: TransformCallback): void {
    done(null, orNone(this.#mask.rest()));
  }
}

const orNone = (bytes: Buffer): Buffer | undefined => (bytes.length > 0 ? bytes : undefined);

/** Unpacks before it masks, and only as fast as the reader takes it: a small body may unpack to a very large one. */
export class UnpackedStream extends Transform {
  readonly #mask: Mask;
  readonly #encoding: Exclude<BodyEncoding, "identity">;
  #decoder: Transform | undefined;
  #isFull = false;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(patterns: PatternSet, encoding: Exclude<BodyEncoding, "identity">) {
    super();
    this.#mask = new Mask(patterns);
    this.#encoding = encoding;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (chunk.length === 0) return done();
    this.#decoder ??= this.#open(chunk[0]!);
    this.#until(done, (taken) => this.#decoder!.write(chunk, taken));
  }

  override _flush(done: TransformCallback): void {
    const finish = (): void => done(null, orNone(this.#mask.rest()));
    if (this.#decoder === undefined) return finish();
    this.#until(finish, () => this.#decoder!.end());
  }

  override _read(size: number): void {
    this.#isFull = false;
    this.#pull();
    super._read(size);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#decoder?.destroy();
    done(error);
  }

  /** Bytes after the packed part do not count: the decoder ends there, and takes no more. */
  #until(done: () => void, start: (taken: () => void) => void): void {
    let isDone = false;
    this.#wake = () => {
      if (!isDone) done();
      isDone = true;
    };
    if (this.#isOver) this.#wake();
    else start(this.#wake);
  }

  #open(firstByte: number): Transform {
    const decoder = openDecoder(this.#encoding, firstByte);
    decoder.on("readable", () => this.#pull());
    decoder.on("error", (error) => this.destroy(error));
    decoder.on("end", () => {
      this.#isOver = true;
      this.#wake();
    });
    return decoder;
  }

  #pull(): void {
    while (!this.#isFull) {
      const chunk = this.#decoder?.read() as Buffer | null | undefined;
      if (chunk === null || chunk === undefined) return;
      const bytes = this.#mask.next(chunk);
      if (bytes.length > 0) this.#isFull = !this.push(bytes);
    }
  }
}
