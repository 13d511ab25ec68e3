/** The gate's decisions, bounded; what is recorded about a secret is not pushed out by anything else. */
import type { EgressRecord, NewEgressRecord } from "../../../contract/network/egress.ts";
import type { EgressQuery } from "../../../ports/store.ts";

/** Of one box, one verdict, and one secret or none. */
const maxEgressRecords = 20_000;

export class EgressRecords {
  #records: EgressRecord[] = [];
  #total = 0;

  add(records: readonly NewEgressRecord[]): void {
    for (const record of records) this.#records.push({ id: ++this.#total, ...record });
    const kept = new Map<string, number>();
    // From the newest on, each up to its share.
    this.#records = this.#records
      .reverse()
      .filter(({ box, verdict, secret }) => {
        const share = JSON.stringify([box, verdict, secret]);
        const count = (kept.get(share) ?? 0) + 1;
        kept.set(share, count);
        return count <= maxEgressRecords;
      })
      .reverse();
  }

  list({ after = 0, box, host, verdict, secret, limit, newestFirst }: EgressQuery): EgressRecord[] {
    const hits = this.#records.filter(
      (record) =>
        record.id > after &&
        (box === undefined || record.box === box) &&
        (host === undefined || record.host === host) &&
        (verdict === undefined || record.verdict === verdict) &&
        (secret === undefined || (secret === true ? record.secret !== undefined : record.secret === secret)),
    );
    if (newestFirst) hits.reverse();
    return hits.slice(0, limit);
  }
}
