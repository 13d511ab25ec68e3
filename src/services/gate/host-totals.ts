/** What a box reached and how much, by host and port. Bounded: a box cannot grow it by inventing names. */
import type { HostSummary, NewEgressRecord } from "../../contract/network/egress.ts";

type Total = { -readonly [K in keyof HostSummary]: HostSummary[K] };

const otherHosts = "(other)";

export class HostTotals {
  readonly #max: number;
  readonly #totals = new Map<string, Total>();

  constructor(max: number) {
    this.#max = max;
  }

  add(record: NewEgressRecord, count = 1): void {
    const total = this.#total(record.host, record.port, record.atMs);
    if (record.verdict === "allow") total.requests += count;
    else {
      total.denials += count;
      if (record.reason !== undefined) total.lastReason = record.reason;
    }
    total.bytesOut += record.bytesOut;
    total.bytesIn += record.bytesIn;
    total.lastAtMs = record.atMs;
  }

  /** A connection was opened; the result says when it closed. */
  open(host: string, port: number, atMs: number): () => void {
    const total = this.#total(host, port, atMs);
    total.open += 1;
    return () => {
      total.open -= 1;
    };
  }

  list(): readonly HostSummary[] {
    return [...this.#totals.values()].map((total) => ({ ...total })).sort((a, b) => b.lastAtMs - a.lastAtMs);
  }

  #total(host: string, port: number, atMs: number): Total {
    const key = `${host}:${port}`;
    const found = this.#totals.get(key);
    if (found) return found;
    if (this.#totals.size >= this.#max && host !== otherHosts) return this.#total(otherHosts, 0, atMs);
    const made: Total = {
      host,
      port,
      requests: 0,
      denials: 0,
      bytesOut: 0,
      bytesIn: 0,
      open: 0,
      lastAtMs: atMs,
    };
    this.#totals.set(key, made);
    return made;
  }
}
