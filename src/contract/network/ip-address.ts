/** IP addresses as numbers. Only canonical texts are read; `host-name.ts` makes them canonical. */

/** Four dotted numbers → one; undefined for anything else, leading zeros included. */
export function numberOfIpv4(text: string): number | undefined {
  if (!/^(?:(?:0|[1-9]\d{0,2})(?:\.|$)){4}$/.test(text) || text.endsWith(".")) return undefined;
  const parts = text.split(".").map(Number);
  if (parts.some((part) => part > 255)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

const formatIpv4 = (value: number): string =>
  [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join(".");

/** The eight groups of an IPv6 address without a dotted tail, or undefined. */
export function groupsOfIpv6(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined;
}

/** The IPv4 address that two groups spell. */
export const embeddedIpv4 = (groups: readonly number[], at: number): number =>
  (groups[at] ?? 0) * 0x1_0000 + (groups[at + 1] ?? 0);

/** Whether it is `::ffff:a.b.c.d`, which every system treats as the IPv4 address itself. */
const isMapped = (groups: readonly number[]): boolean =>
  groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;

/** The canonical text: a mapped address as IPv4, everything else as the URL standard shortens it. */
export function formatIpv6(groups: readonly number[]): string {
  if (isMapped(groups)) return formatIpv4(embeddedIpv4(groups, 6));
  const run = longestZeros(groups);
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":");
  if (run.length < 2) return text(groups);
  return `${text(groups.slice(0, run.start))}::${text(groups.slice(run.start + run.length))}`;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
