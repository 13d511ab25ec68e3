/** Tells listeners once for each run of a box that it has ended, however it was started and ended. */
import type { RuntimeStatus } from "../../../ports/runtime.ts";
import { lives, type ProcessIdentity } from "../process-tree.ts";

const pollMs = 500;

/** Waits until nothing of the run is left, and says how it ended. */
type Settle = (name: string, first: ProcessIdentity) => Promise<RuntimeStatus>;

export class EndWatch {
  readonly #watched = new Map<string, ProcessIdentity>();
  readonly #listeners = new Set<(status: RuntimeStatus) => void>();
  readonly #settle: Settle;
  readonly #timer: NodeJS.Timeout;
  #isPolling = false;

  constructor(settle: Settle) {
    this.#settle = settle;
    this.#timer = setInterval(() => void this.#poll(), pollMs);
    this.#timer.unref();
  }

  listen(listener: (status: RuntimeStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** `exited` is there for boxes this process has started, and is quicker than looking. */
  watch(name: string, first: ProcessIdentity, exited?: Promise<unknown>): void {
    this.#watched.set(name, first);
    void exited?.then(async () => {
      if (this.#watched.get(name) === first) await this.ended(name);
    });
  }

  /** The run is over. The first report counts; later ones change nothing. */
  async ended(name: string): Promise<void> {
    const first = this.#watched.get(name);
    if (first === undefined) return;
    this.#watched.delete(name);
    const status = await this.#settle(name, first);
    for (const listener of this.#listeners) listener(status);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watched.clear();
    this.#listeners.clear();
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      for (const [name, first] of this.#watched) {
        if (!(await lives(first)) && this.#watched.get(name) === first) await this.ended(name);
      }
    } finally {
      this.#isPolling = false;
    }
  }
}
