/** The store's own way to its file, with its statements and its errors; what each table is given. */
export interface SqlAccess {
  rows<Row>(sql: string, values: readonly unknown[]): Row[];
  /** How many rows changed. */
  run(sql: string, values: readonly unknown[]): number;
}

/** Conditions that hold together, for those values that are given. */
export class Where {
  readonly #terms: string[] = [];
  readonly values: unknown[] = [];

  and(term: string, value: unknown): this {
    if (value === undefined) return this;
    this.#terms.push(term);
    this.values.push(value);
    return this;
  }

  get sql(): string {
    return this.#terms.join(" AND ");
  }
}
