/** When something last happened in the box: input, output, a command, somebody attaching. */
export class Activity {
  #lastMs = performance.now();

  touch(): void {
    this.#lastMs = performance.now();
  }

  get idleMs(): number {
    return performance.now() - this.#lastMs;
  }
}
