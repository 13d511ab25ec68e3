/** The time of the last activity in the box: input, output, a command, a new viewer. */
export class Activity {
  #lastMs = performance.now();

  touch(): void {
    this.#lastMs = performance.now();
  }

  get idleMs(): number {
    return performance.now() - this.#lastMs;
  }
}
