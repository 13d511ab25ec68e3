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
 * The same between what was changed and what was not. Every path of the result is looked at once, and only what new paths
 * could meet is kept.
 */
export class CollisionsWithRest {
  readonly #changed: ReadonlySet<string>;
  readonly #wanted = new Map<string, { readonly prefix: string; readonly path: string }>();
  readonly #seen = new Set<string>();
  readonly #found = new Map<string, Danger>();

  constructor(changes: readonly Change[]) {
    this.#changed = new Set(changes.map(({ path }) => path));
    for (const { path, kind, oldMode, newMode } of changes) {
      // A file that was there before and stays a file collides with no file that it did not collide with before.
      if (kind === "deleted" || (kind === "modified" && oldMode === newMode)) continue;
      for (const prefix of prefixes(path)) {
        const folded = foldPath(prefix);
        if (!this.#wanted.has(folded)) this.#wanted.set(folded, { prefix, path });
      }
    }
  }

  see(path: string): void {
    if (this.#wanted.size === 0 || this.#changed.has(path)) return;
    for (const prefix of prefixes(path)) {
      if (this.#seen.has(prefix)) continue;
      if (prefix !== path) this.#seen.add(prefix);
      const met = this.#wanted.get(foldPath(prefix));
      if (met && met.prefix !== prefix && !this.#found.has(met.path))
        this.#found.set(met.path, sameAs(met.path, prefix));
    }
  }

  dangers = (): Danger[] => [...this.#found.values()];
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
