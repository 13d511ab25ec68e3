/** The sums of one box by host and port. Bounded: a box cannot grow them by inventing names. */
import type { HostSummary, NewEgressRecord } from "./egress.ts";

/** Hosts of one box that are counted apart; the rest is counted together. */
export const maxCountedHosts = 1_000;
export const otherHosts = "(other)";

/** The gate's records about one host and port, in numbers. */
export type HostTotal = Omit<HostSummary, "open">;

/** `total` with one more record; undefined where there is none yet. */
export function addToTotal(total: HostTotal | undefined, record: NewEgressRecord): HostTotal {
  const { verdict, reason, secret, isInjected, bytesOut, bytesIn, atMs, count = 1 } = record;
  const old = total ?? emptyTotal(record);
  const isInjection = secret !== undefined && isInjected === true;
  return {
    ...old,
    requests: old.requests + (verdict === "allow" ? count : 0),
    denials: old.denials + (verdict === "deny" ? count : 0),
    bytesOut: old.bytesOut + bytesOut,
    bytesIn: old.bytesIn + bytesIn,
    lastAtMs: Math.max(old.lastAtMs, atMs),
    ...(verdict === "deny" && reason !== undefined ? { lastReason: reason } : {}),
    ...(isInjection ? { secrets: { ...old.secrets, [secret]: (old.secrets?.[secret] ?? 0) + count } } : {}),
  };
}

const emptyTotal = ({ host, port, atMs }: Pick<NewEgressRecord, "host" | "port" | "atMs">): HostTotal => ({
  host,
  port,
  requests: 0,
  denials: 0,
  bytesOut: 0,
  bytesIn: 0,
  lastAtMs: atMs,
});

/** Connections to one host and port that are open now, with what has passed on them and is in no record yet. */
export interface OpenHost {
  readonly host: string;
  readonly port: number;
  readonly open: number;
  readonly bytesOut: number;
  readonly bytesIn: number;
  readonly sinceMs: number;
}

/** Recorded and open connections as one list, the latest first. */
export function joinTotals(recorded: readonly HostTotal[], open: readonly OpenHost[]): HostSummary[] {
  const keyOf = ({ host, port }: { host: string; port: number }): string => `${host}:${port}`;
  const hosts = new Map<string, HostSummary>(recorded.map((total) => [keyOf(total), { ...total, open: 0 }]));
  for (const live of open) {
    const { host, port, sinceMs: atMs } = live;
    const known = hosts.get(keyOf(live)) ?? { ...emptyTotal({ host, port, atMs }), open: 0 };
    hosts.set(keyOf(live), {
      ...known,
      open: known.open + live.open,
      bytesOut: known.bytesOut + live.bytesOut,
      bytesIn: known.bytesIn + live.bytesIn,
      lastAtMs: Math.max(known.lastAtMs, atMs),
    });
  }
  return [...hosts.values()].sort((a, b) => b.lastAtMs - a.lastAtMs);
}
