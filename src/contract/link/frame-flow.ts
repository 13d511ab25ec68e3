import { type Frame, FrameReader } from "./codec.ts";

/** Where the chunks come from; a socket, at both ends of the link. */
export interface FlowSource {
  pause(): unknown;
  resume(): unknown;
}

/**
 * Frames of one connection, delivered in order, that can be held back between any two of them. At most one chunk and
 * one frame are held, because the source is paused as well.
 */
export class FrameFlow {
  readonly #source: FlowSource;
  readonly #deliver: (frame: Frame) => void;
  readonly #reader = new FrameReader();
  readonly #held: Frame[] = [];
  #isPaused = false;
  #isDelivering = false;
  #ended: (() => void) | undefined;

  constructor(source: FlowSource, deliver: (frame: Frame) => void) {
    this.#source = source;
    this.#deliver = deliver;
  }

  /** Throws FrameError on bytes that are no frames, after the frames before them. */
  push(chunk: Uint8Array): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#held.push(frame);
    } finally {
      this.#drain();
    }
  }

  pause(): void {
    this.#isPaused = true;
    this.#source.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#drain();
    if (!this.#isPaused) this.#source.resume();
  }

  /** Calls back after the last frame was delivered. */
  end(callback: () => void): void {
    this.#ended = callback;
    this.#drain();
  }

  #drain(): void {
    // A listener may pause and resume; the loop that is already running goes on then.
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    try {
      while (!this.#isPaused && this.#held.length > 0) this.#deliver(this.#held.shift()!);
    } finally {
      this.#isDelivering = false;
    }
    if (!this.#isPaused && this.#ended) {
      const ended = this.#ended;
      this.#ended = undefined;
      ended();
    }
  }
}
