/** Takes bytes; false: no more until it has drained. */
interface Sink {
  write(chunk: Uint8Array, done: () => void): boolean;
}

/** Where a socket reads into and what becomes of it, in the shape that `net.connect` has as `onread`. */
export interface Relay {
  readonly buffer: () => Uint8Array;
  readonly callback: (count: number, bytes: Uint8Array) => boolean;
}

const smallBytes = 8 * 1024;
const largeBytes = 256 * 1024;
const maxSpare = 16;

/**
 * Memory for connections that are only passed on: what one socket reads is written to another from where it lies, and
 * the memory is used again. A quiet connection holds a small piece, a busy one large pieces, which all of them share.
 */
export class RelayBuffers {
  readonly #spare: Uint8Array[] = [];

  into(sink: Sink): Relay {
    let isBusy = false;
    return {
      buffer: () => (isBusy ? (this.#spare.pop() ?? new Uint8Array(largeBytes)) : new Uint8Array(smallBytes)),
      callback: (count, bytes) => {
        isBusy = count >= smallBytes;
        return sink.write(bytes.subarray(0, count), () => this.#giveBack(bytes));
      },
    };
  }

  #giveBack(bytes: Uint8Array): void {
    if (bytes.length === largeBytes && this.#spare.length < maxSpare) this.#spare.push(bytes);
  }
}
