/**
 * Turns a judged name into addresses, on the host and never in a box. Answers are kept for a few seconds, so that a
 * thousand connections are not a thousand questions; every dial checks the addresses anew all the same.
 */
import { lookup, Resolver as DnsResolver } from "node:dns/promises";
import type { Clock } from "../../../base/clock.ts";

export type Resolve = (host: string) => Promise<readonly string[]>;

/** The host's own resolver: hosts file, search order, and all that its administrator set up. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** One DNS server, such as a company's, in place of the host's. */
export function resolveWith(server: string): Resolve {
  return async (host) => {
    const resolver = new DnsResolver({ timeout: 2_000, tries: 2 });
    resolver.setServers([server]);
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [ipv4, ipv6].flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    if (found.length === 0 && ipv4.status === "rejected") throw ipv4.reason;
    return found;
  };
}

const keepMs = 5_000;
const maxKept = 1_000;

/** Concurrent questions for one name become one; only answers are kept, never failures. */
export function remembering(resolve: Resolve, clock: Clock): Resolve {
  const kept = new Map<string, { readonly answer: Promise<readonly string[]>; readonly untilMs: number }>();
  return (host) => {
    const now = clock.monotonicMs();
    const found = kept.get(host);
    if (found && found.untilMs > now) return found.answer;
    const answer = resolve(host);
    kept.delete(host);
    kept.set(host, { answer, untilMs: now + keepMs });
    answer.catch(() => kept.delete(host));
    if (kept.size > maxKept) {
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    }
    return answer;
  };
}
