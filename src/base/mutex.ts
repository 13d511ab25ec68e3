/** Runs tasks of the same key one after the other; different keys do not wait for each other. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const current = before.then(task, task);
    const settled = current.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(key, settled);
    try {
      return await current;
    } finally {
      if (this.#tails.get(key) === settled) this.#tails.delete(key);
    }
  }
}
