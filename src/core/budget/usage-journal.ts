/**
 * The way of settled requests into the store, one write at a time and at once: with a store that commits where it is
 * called, a record is on the disk when `add` returns, so a killed daemon forgets no settled request. Records that come
 * during a write go together in the next one.
 */
import type { NewModelRecord } from "../../contract/model/usage.ts";
import type { ModelQuery, Store } from "../../ports/store.ts";
import { type Amount, amountOf, plus } from "./amount.ts";
import { covers } from "./meter.ts";

type UsageStore = Pick<Store, "recordModel" | "sumModel">;

export class UsageJournal {
  readonly #store: () => UsageStore;
  readonly #report: (error: unknown) => void;
  /** In order; a record leaves when the store has it. */
  readonly #unwritten: NewModelRecord[] = [];
  readonly #reads: (() => Promise<void>)[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isBusy = false;
  #working: Promise<void> = Promise.resolve();

  constructor(store: () => UsageStore, report: (error: unknown) => void) {
    this.#store = store;
    this.#report = report;
  }

  add(record: NewModelRecord): void {
    this.#unwritten.push(record);
    this.#start();
  }

  /**
   * Hands over the sum of all records so far, written or not. `use` is called while no write is in progress, so that no
   * record is counted twice or missed.
   */
  sum(query: ModelQuery, use: (total: Amount) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#reads.push(async () => {
        try {
          const { usage, costMicroUsd } = await this.#store().sumModel(query);
          const stored = { tokens: usage.input + usage.output, microUsd: costMicroUsd };
          use(
            this.#unwritten
              .filter((record) => covers(query, record))
              .map(amountOf)
              .reduce(plus, stored),
          );
          resolve();
        } catch (error) {
          reject(error);
        }
      });
      this.#start();
    });
  }

  /** Fails while the store takes nothing: what cannot be recorded must not be spent. Tries again first. */
  async requireWritable(): Promise<void> {
    if (!this.#failure) return;
    this.#start();
    await this.#working;
    if (this.#failure) throw this.#failure.error;
  }

  #start(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#working = this.#work();
  }

  /** Never fails: a write says so in `#failure`, a read tells who asked. */
  async #work(): Promise<void> {
    this.#failure = undefined;
    for (;;) {
      if (this.#unwritten.length > 0 && !this.#failure) await this.#write();
      else if (this.#reads.length > 0) await this.#reads.shift()!();
      else break;
    }
    this.#isBusy = false;
  }

  async #write(): Promise<void> {
    const batch = [...this.#unwritten];
    try {
      await this.#store().recordModel(batch);
      this.#unwritten.splice(0, batch.length);
    } catch (error) {
      this.#failure = { error };
      this.#report(error);
    }
  }
}
