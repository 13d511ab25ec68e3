/** The gate's decisions. Bounded, and what is recorded about a secret is not pushed out by anything else. */
import type { EgressRecord, NewEgressRecord } from "../../../contract/network/egress.ts";
import {
  addToTotal,
  type HostTotal,
  maxCountedHosts,
  otherHosts,
} from "../../../contract/network/host-totals.ts";
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
    this.#addToTotals(records);
  }

  #addToTotals(records: readonly NewEgressRecord[]): void {
    const groups = new Map<string, NewEgressRecord[]>();
    for (const record of records) {
      const { box, incarnation, host, port } = record;
      const key = JSON.stringify([box, incarnation, host, port]);
      const group = groups.get(key);
      if (group) group.push(record);
      else groups.set(key, [record]);
    }
    for (const group of groups.values()) {
      const { box, incarnation } = group[0]!;
      const [host, port] = this.#countedAs(group[0]!);
      const key = [box, incarnation, host, port];
      let total = this.#total(key);
      for (const record of group) total = addToTotal(total, { ...record, host, port });
      const sql = `INSERT INTO egress_totals (box, incarnation, host, port, value) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET value = excluded.value`;
      this.#sql.run(sql, [...key, JSON.stringify(total)]);
    }
  }

  sum(box: string, incarnation: string): HostTotal[] {
    const sql = "SELECT value FROM egress_totals WHERE box = ? AND incarnation = ?";
    return this.#sql.rows<[string]>(sql, [box, incarnation]).map(([value]) => JSON.parse(value) as HostTotal);
  }

  /** SECURITY: a box invents as many names as it likes; those beyond the bound are counted together. */
  #countedAs({ box, incarnation, host, port }: NewEgressRecord): readonly [string, number] {
    if (this.#total([box, incarnation, host, port]) !== undefined) return [host, port];
    const count = this.#countTotals(box, incarnation);
    // Sums of a box that had the name before end with the first record of this one.
    if (count === 0) this.#sql.run("DELETE FROM egress_totals WHERE box = ?", [box]);
    return count < maxCountedHosts ? [host, port] : [otherHosts, 0];
  }

  #total(key: readonly unknown[]): HostTotal | undefined {
    const sql = "SELECT value FROM egress_totals WHERE box = ? AND incarnation = ? AND host = ? AND port = ?";
    const [row] = this.#sql.rows<[string]>(sql, key);
    return row === undefined ? undefined : (JSON.parse(row[0]) as HostTotal);
  }

  #countTotals(box: string, incarnation: string): number {
    const sql = "SELECT count(*) FROM egress_totals WHERE box = ? AND incarnation = ?";
    return this.#sql.rows<[number]>(sql, [box, incarnation])[0]?.[0] ?? 0;
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
