import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import { foldPath } from "./fold-path.ts";
import { maxDepth } from "./path-tricks.ts";
import { quoted } from "./sentence.ts";

/**
 * Two paths of the result that are one on macOS and Windows: the one overwrites the other at checkout. Directories
 * count too; through `Git/hooks` and `git/hooks` files meet in one directory.
 */
export function caseCollisions(changes: readonly Change[]): Danger[] {
  const spelled = new Map<string, string>();
  const seen = new Set<string>();
  const dangers: Danger[] = [];
  for (const { path, kind } of changes) {
    if (kind === "deleted") continue;
    for (const prefix of prefixes(path)) {
      if (seen.has(prefix)) continue;
      seen.add(prefix);
      const folded = foldPath(prefix);
      const other = spelled.get(folded);
      if (other === undefined) spelled.set(folded, prefix);
      else if (other !== prefix) {
        dangers.push(sameAs(path, other));
        break;
      }
    }
  }
  return dangers;
}

/**
 * The same between what was changed and what was not. `paths` are all of the result; each is looked at once, and only
 * what new paths could meet is kept.
 */
export async function collisionsWithRest(
  changes: readonly Change[],
  paths: AsyncIterable<string>,
): Promise<Danger[]> {
  const changed = new Set(changes.map(({ path }) => path));
  const wanted = new Map<string, { readonly prefix: string; readonly path: string }>();
  for (const { path, kind, oldMode, newMode } of changes) {
    // A file that was there before and stays a file meets nobody it has not met already.
    if (kind === "deleted" || (kind === "modified" && oldMode === newMode)) continue;
    for (const prefix of prefixes(path)) {
      const folded = foldPath(prefix);
      if (!wanted.has(folded)) wanted.set(folded, { prefix, path });
    }
  }
  if (wanted.size === 0) return [];
  const seen = new Set<string>();
  const found = new Map<string, Danger>();
  for await (const path of paths) {
    if (changed.has(path)) continue;
    for (const prefix of prefixes(path)) {
      if (seen.has(prefix)) continue;
      if (prefix !== path) seen.add(prefix);
      const met = wanted.get(foldPath(prefix));
      if (met && met.prefix !== prefix && !found.has(met.path)) found.set(met.path, sameAs(met.path, prefix));
    }
  }
  return [...found.values()];
}

const sameAs = (path: string, other: string): Danger => ({
  kind: "path_trick",
  path,
  why: `It is the same as ${quoted(other)} on macOS and Windows: one of the two overwrites the other.`,
});

/** The path and its directories, from the top; the deepest are left out, because their number is the box's to choose. */
function prefixes(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf("/"); at !== -1 && found.length < maxDepth; at = path.indexOf("/", at + 1)) {
    found.push(path.slice(0, at));
  }
  return [...found, path];
}
