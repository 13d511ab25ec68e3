/** As much as a viewer may be behind before it slows the program down. */
const maxLagBytes = 512 * 1024;
const patienceMs = 1_000;

interface Paced {
  readonly lagBytes: number;
}

export interface ThrottleOptions<T extends Paced> {
  readonly viewers: ReadonlySet<T>;
  readonly isScreenFull: () => boolean;
  /** Whether a viewer that reads nothing for a second is left behind. */
  readonly mayOvertake: boolean;
  readonly setPaused: (isPaused: boolean) => void;
}

/** Lets a program run as fast as its fastest viewer and its screen can follow. */
export class Throttle<T extends Paced = Paced> {
  readonly #options: ThrottleOptions<T>;
  readonly #stalled = new WeakSet<T>();
  #isPaused = false;
  #holds = 0;
  #patience: NodeJS.Timeout | undefined;

  constructor(options: ThrottleOptions<T>) {
    this.#options = options;
  }

  hold(): void {
    this.#holds += 1;
    this.update();
  }

  release(): void {
    this.#holds -= 1;
    this.update();
  }

  progressed(viewer: T): void {
    this.#stalled.delete(viewer);
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.update();
  }

  update(): void {
    const isSlow = this.#isEveryViewerSlow();
    if (isSlow && this.#options.mayOvertake)
      this.#patience ??= setTimeout(() => this.#overtake(), patienceMs);
    const shouldPause = this.#holds > 0 || isSlow || this.#options.isScreenFull();
    if (shouldPause === this.#isPaused) return;
    this.#isPaused = shouldPause;
    this.#options.setPaused(shouldPause);
  }

  #isEveryViewerSlow(): boolean {
    let counted = 0;
    for (const viewer of this.#options.viewers) {
      if (this.#stalled.has(viewer)) continue;
      if (viewer.lagBytes <= maxLagBytes) return false;
      counted += 1;
    }
    return counted > 0;
  }

  #overtake(): void {
    this.#patience = undefined;
    for (const viewer of this.#options.viewers) {
      if (viewer.lagBytes > maxLagBytes) this.#stalled.add(viewer);
    }
    this.update();
  }
}
