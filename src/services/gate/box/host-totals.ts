/** The hosts and ports that a box reached, and how much. Bounded: a box cannot grow it by inventing names. */
import type { HostSummary, NewEgressRecord } from "../../../contract/network/egress.ts";

type Total = { -readonly [K in keyof HostSummary]: HostSummary[K] };

type LiveBytes = () => { readonly out: number; readonly in: number };

const otherHosts = "(other)";

export class HostTotals {
  readonly #max: number;
  readonly #totals = new Map<string, Total>();
  readonly #live = new Map<LiveBytes, Total>();

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
    if (record.secret !== undefined && record.isInjected === true)
      total.secrets = { ...total.secrets, [record.secret]: (total.secrets?.[record.secret] ?? 0) + count };
    total.bytesOut += record.bytesOut;
    total.bytesIn += record.bytesIn;
    total.lastAtMs = record.atMs;
  }

  /** A connection was opened; the result says when it closed. `bytes` tells what has passed on it until then. */
  open(host: string, port: number, atMs: number, bytes?: LiveBytes): () => void {
    const total = this.#total(host, port, atMs);
    total.open += 1;
    if (bytes) this.#live.set(bytes, total);
    return () => {
      total.open -= 1;
      if (bytes) this.#live.delete(bytes);
    };
  }

  list(): readonly HostSummary[] {
    const copies = new Map([...this.#totals.values()].map((total) => [total, { ...total }]));
    for (const [bytes, total] of this.#live) {
      const copy = copies.get(total);
      const now = bytes();
      if (!copy) continue;
      copy.bytesOut += now.out;
      copy.bytesIn += now.in;
    }
    return [...copies.values()].sort((a, b) => b.lastAtMs - a.lastAtMs);
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
