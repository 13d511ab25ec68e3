/**
 * Lets a request's body through unless a placeholder of the box is in it, however the body is cut or packed. The bytes
 * that complete a placeholder are never passed on, so no server gets a whole one.
 */
import { Transform, type TransformCallback } from "node:stream";
import { AgentBoxError } from "../../base/errors.ts";
import { type BodyEncoding, openDecoder } from "./body-decoder.ts";
import type { Marks } from "./marks.ts";
import { PlaceholderFinder, found } from "./placeholder-finder.ts";

/** SECURITY: a few kilobytes can unpack to gigabytes; this much is read and no more. */
const maxDecoded = 64 * 1024 * 1024;
const maxRatio = 200;
/** Below this, even an empty page packs better than the ratio. */
const alwaysDecoded = 1024 * 1024;

const misplaced = (message: string, hint: string): AgentBoxError =>
  new AgentBoxError("secret.misplaced", message, { hint });

/** Unpacks beside the stream and looks at what comes out. */
class PackedFinder {
  readonly #finder: PlaceholderFinder;
  readonly #encoding: Exclude<BodyEncoding, "identity">;
  #decoder: Transform | undefined;
  #packed = 0;
  #decoded = 0;
  #failure: AgentBoxError | undefined;
  /** The packed part has ended; what follows it, the decoder does not take. */
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(marks: Marks, encoding: Exclude<BodyEncoding, "identity">) {
    this.#finder = new PlaceholderFinder(marks);
    this.#encoding = encoding;
  }

  /** Calls back when everything that the chunk unpacks to has been looked at. */
  write(chunk: Buffer, done: (failure: AgentBoxError | undefined) => void): void {
    this.#packed += chunk.length;
    const decoder = (this.#decoder ??= this.#open(chunk[0] ?? 0));
    this.#settle(done, (settled) => decoder.write(chunk, settled));
  }

  end(done: (failure: AgentBoxError | undefined) => void): void {
    const decoder = this.#decoder;
    if (decoder === undefined) return done(undefined);
    this.#settle(done, () => decoder.end());
  }

  close(): void {
    this.#decoder?.destroy();
  }

  #settle(done: (failure: AgentBoxError | undefined) => void, start: (settled: () => void) => void): void {
    let isOver = false;
    const settled = (): void => {
      if (isOver) return;
      isOver = true;
      this.#drain();
      done(this.#failure);
    };
    this.#wake = settled;
    if (this.#failure === undefined && !this.#isOver) start(settled);
    else settled();
  }

  #open(firstByte: number): Transform {
    const decoder = openDecoder(this.#encoding, firstByte);
    decoder.on("readable", () => this.#drain());
    decoder.on("end", () => {
      this.#isOver = true;
      this.#wake();
    });
    decoder.on("error", () =>
      this.#fail(
        misplaced(
          `The request's body is not the ${this.#encoding} it says it is.`,
          "Send it without Content-Encoding.",
        ),
      ),
    );
    return decoder;
  }

  #drain(): void {
    while (this.#failure === undefined) {
      const chunk = this.#decoder?.read() as Buffer | null | undefined;
      if (chunk === null || chunk === undefined) return;
      this.#decoded += chunk.length;
      const secret = this.#finder.next(chunk);
      if (secret !== undefined) this.#fail(found(secret));
      else if (this.#decoded > Math.min(maxDecoded, Math.max(alwaysDecoded, this.#packed * maxRatio)))
        this.#fail(
          misplaced(
            "The request's body unpacks to more than can be read for placeholders.",
            "Send it without Content-Encoding, or in smaller requests.",
          ),
        );
    }
  }

  #fail(failure: AgentBoxError): void {
    this.#failure ??= failure;
    this.#decoder?.destroy();
    this.#wake();
  }
}

export class PlaceholderScan extends Transform {
  /** Packed bodies are looked at as they are, too: what follows the packed part is ignored by some readers. */
  readonly #finder: PlaceholderFinder;
  readonly #packed: PackedFinder | undefined;

  constructor(marks: Marks, encoding: BodyEncoding) {
    super();
    this.#finder = new PlaceholderFinder(marks);
    this.#packed = encoding === "identity" ? undefined : new PackedFinder(marks, encoding);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const secret = this.#finder.next(chunk);
    if (secret !== undefined) return done(found(secret));
    if (this.#packed === undefined) return done(null, chunk);
    this.#packed.write(chunk, (failure) => (failure === undefined ? done(null, chunk) : done(failure)));
  }

  override _flush(done: TransformCallback): void {
    if (this.#packed === undefined) return done();
    this.#packed.end((failure) => done(failure ?? null));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#packed?.close();
    done(error);
  }
}
