/** One spelling for each destination, so that the name that is judged is the name that is dialed. */
import { formatIpv6, groupsOfIpv6 } from "./ip-address.ts";

export type CanonicalHost =
  | { readonly kind: "name"; readonly name: string }
  /** IPv4 with dots, or IPv6 in its short form without brackets. */
  | { readonly kind: "address"; readonly address: string };

/** Longer texts are no host, however they are written. */
const maxText = 512;
const maxName = 253;
/**
 * SECURITY: what is not on this list could end the name early in one parser and not in another: NUL, `@`, `/`, `\`,
 * `%`, white space, control and invisible characters.
 */
const plainText = /^[A-Za-z0-9._\-\p{L}\p{M}\p{N}]+$/u;
const ipv6Text = /^[0-9a-fA-F:.]+$/;
/** Underscores exist in real names. A hyphen first would be an option to some program. */
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Case, one trailing dot, international names, and every way to write an IPv4 address (decimal, octal, hexadecimal,
 * shortened, mapped into IPv6) come out as one text. Undefined: no host, or one that could be read in two ways.
 */
export function canonicalHost(text: string): CanonicalHost | undefined {
  const found = known.get(text);
  if (found !== undefined) return found;
  const host = readHost(text);
  if (known.size >= maxKnown) known.clear();
  if (host !== undefined) known.set(text, host);
  return host;
}

/** The same few hosts come with every request; a box that invents names only makes this start again. */
const known = new Map<string, CanonicalHost>();
const maxKnown = 1_000;

function readHost(text: string): CanonicalHost | undefined {
  if (text.length === 0 || text.length > maxText) return undefined;
  const isBracketed = text.startsWith("[") && text.endsWith("]");
  if (isBracketed || text.includes(":")) return canonicalIpv6(isBracketed ? text.slice(1, -1) : text);
  if (!plainText.test(text)) return undefined;
  const host = hostnameOf(text.endsWith(".") ? text.slice(0, -1) : text);
  if (host === undefined) return undefined;
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return { kind: "address", address: host };
  if (host.length > maxName || !host.split(".").every((part) => label.test(part))) return undefined;
  // A form that would change when it is read again has more than one reading.
  return hostnameOf(host) === host ? { kind: "name", name: host } : undefined;
}

function canonicalIpv6(text: string): CanonicalHost | undefined {
  if (!ipv6Text.test(text)) return undefined;
  const host = hostnameOf(`[${text}]`);
  const groups = host === undefined ? undefined : groupsOfIpv6(host.slice(1, -1));
  return groups && { kind: "address", address: formatIpv6(groups) };
}

/** The host parser of the URL standard: the same that fetch and browsers use. */
function hostnameOf(host: string): string | undefined {
  try {
    return new URL(`http://${host}/`).hostname || undefined;
  } catch {
    return undefined;
  }
}

/** The canonical text, whichever kind it is. */
export const hostText = (host: CanonicalHost): string => (host.kind === "name" ? host.name : host.address);

/** Names below this one belong to AgentBox: exceptions and the model gateway. */
export const ownDomain = "agentbox.internal";

/** Names that never mean a host of the internet: the machine itself, its neighbours, or nothing. */
const reservedSuffixes = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "arpa",
  "onion",
  "invalid",
];

/** Why no rule can open this canonical name; undefined for ordinary names and for those of AgentBox itself. */
export function reservedName(name: string): string | undefined {
  if (isOwnName(name)) return undefined;
  // SECURITY: a name without a dot is completed with the host's search domain, or is the host itself.
  if (!name.includes(".")) return "a name without a dot belongs to the local network";
  const suffix = reservedSuffixes.find((reserved) => name.endsWith(`.${reserved}`));
  return suffix === undefined ? undefined : `names under .${suffix} belong to the local network`;
}

export const isOwnName = (name: string): boolean => name.endsWith(`.${ownDomain}`);
