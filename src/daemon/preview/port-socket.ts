import { Duplex } from "node:stream";
import { failureOf } from "../../core/files/stream-end.ts";
import type { LinkStream } from "../../ports/link.ts";

/** A port of a box as a socket, for Node's HTTP client. It fails with why nothing listens there. */
export class PortSocket extends Duplex {
  readonly #stream: LinkStream;
  #drained: (() => void) | undefined;

  constructor(stream: LinkStream) {
    super();
    this.#stream = stream;
    // SECURITY: Node's client lets go of a socket between two steps; an error then must not end the daemon.
    this.on("error", () => undefined);
    stream.onData((chunk) => {
      if (!this.push(chunk)) stream.pause();
    });
    stream.onMessage((message) => {
      if (message.type === "failed") this.destroy(failureOf(message));
    });
    stream.onDrain(() => {
      const drained = this.#drained;
      this.#drained = undefined;
      drained?.();
    });
    stream.onClose((error) => {
      if (error) this.destroy(error);
      else if (!this.destroyed) this.push(null);
    });
  }

  /** Part of what Node's client expects of a socket; boxd and the link have limits of their own. */
  setTimeout(): this {
    return this;
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#stream.write(chunk)) done();
    else this.#drained = done;
  }

  override _final(done: () => void): void {
    this.#stream.endInput();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stream.close();
    done(error);
  }
}
