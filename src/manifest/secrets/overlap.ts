/** Whether two secrets could go into the same request. Pure. */
import { formatHostPattern, matchesHost } from "../../contract/network/host-pattern.ts";
import type { HostPattern } from "../../contract/network/policy.ts";
import type { SecretDestination, SecretUse } from "../../contract/secret/binding.ts";

/** The destination that both uses name, in words; undefined without one. */
export function sharedDestination(a: SecretUse, b: SecretUse): string | undefined {
  if (a.kind === "inject" && b.kind === "inject")
    return sharedHost(groupsOf(a.destinations), groupsOf(b.destinations));
  return a.kind === "file" && b.kind === "file" && a.path === b.path ? a.path : undefined;
}

function sharedHost(
  groups: readonly (readonly SecretDestination[])[],
  others: readonly (readonly SecretDestination[])[],
): string | undefined {
  for (const group of groups) {
    for (const other of others) {
      const hit = commonDestination(group, other);
      if (hit) return `${formatHostPattern(hit.host)}:${hit.port}`;
    }
  }
  return undefined;
}

/**
 * Places with the same methods and paths, which are the very same lists for all hosts of an entry. A hostile file has
 * many of both, and its hosts times its paths would keep the reader busy for minutes.
 */
function groupsOf(destinations: readonly SecretDestination[]): SecretDestination[][] {
  const groups = new Map<readonly string[], SecretDestination[]>();
  for (const destination of destinations)
    groups.set(destination.paths, [...(groups.get(destination.paths) ?? []), destination]);
  return [...groups.values()];
}

function commonDestination(
  a: readonly SecretDestination[],
  b: readonly SecretDestination[],
): SecretDestination | undefined {
  // SECURITY: the scheme is left out. One port speaks one of the two, and which one is not to be said twice.
  const hit = a.find((destination) =>
    b.some((other) => destination.port === other.port && hostsMeet(destination.host, other.host)),
  );
  const [first, second] = [a[0]!, b[0]!];
  return hit && methodsMeet(first.methods, second.methods) && pathsMeet(first.paths, second.paths)
    ? hit
    : undefined;
}

const hostsMeet = (a: HostPattern, b: HostPattern): boolean =>
  a.isWildcard === b.isWildcard && a.name === b.name
    ? true
    : (a.isWildcard && matchesHost(a, b.name)) || (b.isWildcard && matchesHost(b, a.name));

const methodsMeet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === 0 || b.length === 0 || a.some((method) => b.includes(method));

/** The part before the first wildcard: where that does not tell two patterns apart, they are taken to meet. */
interface PathStart {
  readonly text: string;
  readonly isWhole: boolean;
}

function pathsMeet(a: readonly string[], b: readonly string[]): boolean {
  if (a.length === 0 || b.length === 0) return true;
  const others = b.map(startOf);
  return a.map(startOf).some((path) => others.some((other) => startsMeet(path, other)));
}

function startOf(pattern: string): PathStart {
  const at = pattern.indexOf("*");
  return at === -1 ? { text: pattern, isWhole: true } : { text: pattern.slice(0, at), isWhole: false };
}

/** With a slash behind what is whole, because "/a/**" is about "/a" as well. */
function startsMeet(a: PathStart, b: PathStart): boolean {
  if (a.isWhole && b.isWhole) return a.text === b.text;
  if (a.isWhole) return `${a.text}/`.startsWith(b.text);
  if (b.isWhole) return `${b.text}/`.startsWith(a.text);
  return a.text.startsWith(b.text) || b.text.startsWith(a.text);
}
