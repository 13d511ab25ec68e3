/** The hosts that rules are written for: `host`, `*.host`, either with `:port`. */
import { parse } from "tldts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { canonicalHost, reservedName } from "./host-name.ts";
import type { HostPattern } from "./policy.ts";

export interface ParsedHostPattern {
  readonly pattern: HostPattern;
  readonly port?: number | undefined;
}

export interface HostPatternProblem {
  readonly problem: "unreadable" | "too_wide" | "not_public";
  /** Ends a sentence that starts with the pattern. */
  readonly reason: string;
  readonly hint: string;
}

/** A denial may be as wide as it likes. */
export function parseHostPattern(
  text: string,
  { isDenial = false }: { isDenial?: boolean } = {},
): ParsedHostPattern | HostPatternProblem {
  const address = addressProblem(text);
  if (address) return address;
  const [, star, host = "", digits] = /^(\*\.)?([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (text.startsWith("*") && star === undefined) return tooWide("it stands for every host");
  if (host.includes("*")) return tooWide("a wildcard stands only for everything below a name");
  const canonical = canonicalHost(host);
  if (canonical === undefined) return unreadable(text);
  if (canonical.kind === "address") return notPublic("it is an address");
  const port = digits === undefined ? undefined : portOf(digits);
  if (digits !== undefined && port === undefined) return unreadable(text);
  const pattern = { name: canonical.name, isWildcard: star !== undefined };
  const problem = isDenial ? undefined : widthProblem(pattern);
  return problem ?? { pattern, ...omitUndefined({ port }) };
}

/** IPv6 has colons of its own, so it is recognised before a port is looked for. */
function addressProblem(text: string): HostPatternProblem | undefined {
  const bare = /^(\[.*\])(?::\d+)?$/s.exec(text)?.[1] ?? text;
  return canonicalHost(bare)?.kind === "address" ? notPublic("it is an address") : undefined;
}

function widthProblem({ name, isWildcard }: HostPattern): HostPatternProblem | undefined {
  if (isWildcard) {
    // SECURITY: anyone can register below a public suffix, so the wildcard would let everyone in.
    const { publicSuffix, isIcann } = parse(name, { allowPrivateDomains: true });
    if (publicSuffix === name) {
      return tooWide(
        isIcann || !name.includes(".") ? "anyone can register a name there" : "anyone can open a site there",
      );
    }
  }
  const reserved = reservedName(isWildcard ? `x.${name}` : name);
  return reserved === undefined && !isOwnOrBelow(name)
    ? undefined
    : notPublic(reserved ?? "it is AgentBox's own name");
}

const isOwnOrBelow = (name: string): boolean => /(?:^|\.)agentbox\.internal$/.test(name);

function portOf(digits: string): number | undefined {
  const port = /^[1-9]\d{0,4}$/.test(digits) ? Number(digits) : undefined;
  return port !== undefined && port <= 65_535 ? port : undefined;
}

const tooWide = (reason: string): HostPatternProblem => ({
  problem: "too_wide",
  reason,
  hint: 'Name the hosts that the work needs, such as "api.example.org" or "*.cdn.example.org".',
});

const notPublic = (reason: string): HostPatternProblem => ({
  problem: "not_public",
  reason,
  hint: "Open one address of the local network with [network.exceptions.<name>].",
});

const unreadable = (text: string): HostPatternProblem => ({
  problem: "unreadable",
  reason: "it is not a host name",
  hint: /[/@]/.test(text)
    ? "Write the host alone, without scheme, user and path; paths go into [[network.rules]]."
    : 'Write a host name, with a port where it is not 80 or 443, such as "example.org" or "example.org:5432".',
});

/** Whether a canonical name is the pattern's own, or lies below it. */
export const matchesHost = ({ name, isWildcard }: HostPattern, host: string): boolean =>
  // SECURITY: with the dot, because "evilexample.org" ends in "example.org" too.
  isWildcard ? host.endsWith(`.${name}`) : host === name;

export const formatHostPattern = ({ name, isWildcard }: HostPattern): string =>
  isWildcard ? `*.${name}` : name;
