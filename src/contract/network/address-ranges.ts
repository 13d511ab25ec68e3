/** Addresses that no name may lead to: the host, its networks, and what is no single host of the internet. */
import { canonicalHost } from "./host-name.ts";
import { embeddedIpv4, groupsOfIpv6, numberOfIpv4 } from "./ip-address.ts";

/**
 * The documentation ranges (TEST-NET, 2001:db8::/32) are left out: they are not routed, so they are harmless, and test
 * networks use them.
 */
const ipv4Ranges: readonly (readonly [base: string, bits: number, name: string])[] = [
  ["0.0.0.0", 8, "this network"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "carrier-grade NAT"],
  ["127.0.0.0", 8, "loopback"],
  // Public by number, and inside every virtual machine of that cloud the way to its control services.
  ["168.63.129.16", 32, "cloud metadata"],
  ["169.254.0.0", 16, "link-local and cloud metadata"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "protocol assignments"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "benchmark"],
  ["224.0.0.0", 4, "multicast"],
  ["255.255.255.255", 32, "broadcast"],
  ["240.0.0.0", 4, "reserved"],
];

const ipv6Ranges: readonly (readonly [base: string, bits: number, name: string])[] = [
  ["::", 128, "unspecified"],
  ["::1", 128, "loopback"],
  ["64:ff9b:1::", 48, "local NAT64"],
  ["fc00::", 7, "private"],
  ["fe80::", 10, "link-local"],
  ["fec0::", 10, "site-local"],
  ["ff00::", 8, "multicast"],
];

/**
 * The range that forbids this address, by name. `hostAddresses` are those of the host's own interfaces. An unreadable
 * address is forbidden too.
 */
export function forbiddenRange(address: string, hostAddresses: readonly string[] = []): string | undefined {
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return "not an address";
  if (hostAddresses.some((own) => canonicalAddress(own) === canonical)) return "the host itself";
  const ipv4 = numberOfIpv4(canonical);
  return ipv4 === undefined ? ipv6Range(groupsOfIpv6(canonical) ?? []) : ipv4Range(ipv4);
}

function canonicalAddress(text: string): string | undefined {
  const host = canonicalHost(text);
  return host?.kind === "address" ? host.address : undefined;
}

/** Read once: every dial asks. */
const ipv4Blocks = ipv4Ranges.map(([base, bits, name]) => {
  const size = 2 ** (32 - bits);
  return { size, block: Math.floor((numberOfIpv4(base) ?? 0) / size), name };
});

const ipv4Range = (value: number): string | undefined =>
  ipv4Blocks.find(({ size, block }) => Math.floor(value / size) === block)?.name;

function ipv6Range(groups: readonly number[]): string | undefined {
  const named = ipv6Ranges.find(([base, bits]) => hasPrefix(groups, base, bits))?.[2];
  if (named !== undefined) return named;
  const inner = embeddedAddresses(groups);
  if (inner !== undefined) return inner.map(ipv4Range).find((range) => range !== undefined);
  return hasPrefix(groups, "2000::", 3) ? undefined : "not global unicast";
}

/** SECURITY: a gateway unpacks these, so the IPv4 address inside is where the connection ends. */
function embeddedAddresses(groups: readonly number[]): readonly number[] | undefined {
  if (hasPrefix(groups, "::", 96) || hasPrefix(groups, "64:ff9b::", 96)) return [embeddedIpv4(groups, 6)];
  if (hasPrefix(groups, "2002::", 16)) return [embeddedIpv4(groups, 1)];
  // Teredo names its server, and its client with all bits turned.
  if (hasPrefix(groups, "2001::", 32))
    return [embeddedIpv4(groups, 2), 0xff_ff_ff_ff - embeddedIpv4(groups, 6)];
  return undefined;
}

function hasPrefix(groups: readonly number[], base: string, bits: number): boolean {
  const wanted = groupsOfIpv6(base) ?? [];
  return groups.every((group, index) => {
    const own = Math.min(16, Math.max(0, bits - index * 16));
    return group >>> (16 - own) === (wanted[index] ?? 0) >>> (16 - own);
  });
}
