/**
 * Tokens and cost of each box's whole life. Summed once for a box (its own rows, by an index), then counted along with
 * every request that is settled: a list of a thousand boxes asks the store for none of it.
 */
import type { Box } from "../../contract/box.ts";
import type { NewModelRecord } from "../../contract/model/usage.ts";
import type { ModelQuery } from "../../ports/store.ts";
import { type Amount, amountOf, plus } from "../budget/amount.ts";

/** The usage until now, handed over while none is being added. */
export type SumUsage = (query: ModelQuery, use: (total: Amount) => void) => Promise<void>;

export class Spent {
  readonly #sum: SumUsage;
  readonly #boxes = new Map<string, Amount>();

  constructor(sum: SumUsage) {
    this.#sum = sum;
  }

  settled(record: NewModelRecord): void {
    const known = this.#boxes.get(record.incarnation);
    if (known) this.#boxes.set(record.incarnation, plus(known, amountOf(record)));
  }

  async load(boxes: readonly Pick<Box, "name" | "incarnation">[]): Promise<void> {
    await Promise.all(
      boxes
        .filter(({ incarnation }) => !this.#boxes.has(incarnation))
        .map(({ name: box, incarnation }) =>
          this.#sum({ box, incarnation }, (total) => void this.#boxes.set(incarnation, total)),
        ),
    );
  }

  find({ incarnation }: Pick<Box, "incarnation">): Amount | undefined {
    return this.#boxes.get(incarnation);
  }

  forget(incarnation: string): void {
    this.#boxes.delete(incarnation);
  }
}
