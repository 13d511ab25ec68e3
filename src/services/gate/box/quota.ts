/**
 * A bounded quota for requests that wait or bytes that are held: nothing is taken beyond the bound, and all of it is
 * given back.
 */
export class Quota {
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  take(amount = 1): boolean {
    if (amount > this.#free) return false;
    this.#free -= amount;
    return true;
  }

  give(amount = 1): void {
    this.#free += amount;
  }
}
