/** The gate's decisions. Bounded, and what is recorded about a secret is not pushed out by anything else. */
import type { EgressRecord, NewEgressRecord } from "../../../contract/network/egress.ts";
import type { EgressQuery } from "../../../ports/store.ts";
import { type SqlAccess, Where } from "./sql-access.ts";

/** Of one box, one verdict, and one secret or none; about 6 MB. */
const maxEgressRecords = 20_000;

export class EgressTable {
  readonly #sql: SqlAccess;

  constructor(sql: SqlAccess) {
    this.#sql = sql;
  }

  add(records: readonly NewEgressRecord[]): void {
    const shares = new Map<string, readonly unknown[]>();
    for (const record of records) {
      const { box, host, verdict, secret = null } = record;
      this.#sql.run("INSERT INTO egress (box, host, verdict, secret, record) VALUES (?, ?, ?, ?, ?)", [
        box,
        host,
        verdict,
        secret,
        JSON.stringify(record),
      ]);
      shares.set(JSON.stringify([box, verdict, secret]), [box, verdict, secret]);
    }
    for (const share of shares.values()) this.#bound(share);
  }

  /**
   * SECURITY: each box has its own share, and so has each verdict and each secret: a flood of denials pushes out only
   * itself, and no receipt.
   */
  #bound(share: readonly unknown[]): void {
    const mine = "box = ? AND verdict = ? AND secret IS ?";
    const sql = `DELETE FROM egress WHERE ${mine} AND id <= (SELECT id FROM egress WHERE ${mine}
      ORDER BY id DESC LIMIT 1 OFFSET ?)`;
    this.#sql.run(sql, [...share, ...share, maxEgressRecords]);
  }

  list({ after = 0, box, host, verdict, secret, limit, newestFirst }: EgressQuery): EgressRecord[] {
    const where = new Where()
      .and("id > ?", after)
      .and("box = ?", box)
      .and("host = ?", host)
      .and("verdict = ?", verdict)
      .and("secret = ?", secret === true ? undefined : secret);
    const any = secret === true ? " AND secret IS NOT NULL" : "";
    const sql = `SELECT id, record FROM egress WHERE ${where.sql}${any}
      ORDER BY id ${newestFirst ? "DESC" : "ASC"} LIMIT ?`;
    return this.#sql.rows<[number, string]>(sql, [...where.values, limit]).map(([id, text]) => ({
      id,
      ...(JSON.parse(text) as NewEgressRecord),
    }));
  }
}
