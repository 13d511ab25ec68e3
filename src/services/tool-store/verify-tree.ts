/**
 * Whether a tree is still what was installed. The quick way asks the kernel about every entry and reads nothing; only
 * when something differs is everything read again. Either way no entry is missed: none more, none less.
 */
import { isAgentBoxError, systemCode } from "../../base/errors.ts";
import type { ToolRecord } from "./records.ts";
import { type TreeEntry, readTree } from "./tree.ts";
import { type HashedEntry, digestOf, hashTree } from "./tree-digest.ts";

export type TreeCheck =
  | { readonly isWhole: true; readonly entries: readonly HashedEntry[]; readonly isMoved: boolean }
  | { readonly isWhole: false; readonly problem: string; readonly path: string };

export async function verifyTree(dir: string, record: ToolRecord, how: "quick" | "full"): Promise<TreeCheck> {
  let found: TreeEntry[];
  try {
    found = await readTree(dir);
  } catch (error) {
    if (isAgentBoxError(error)) return broken(error.message, "");
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(systemCode(error) ?? ""))
      return broken("it cannot be read", "");
    throw error;
  }
  // SECURITY: a record that was edited together with a file would vouch for it.
  if (digestOf(record.entries) !== record.tool.digest) return broken("its record was changed", "");
  const difference = findDifference(record.entries, found);
  if (difference !== undefined) return difference;
  const isAsLeft = found.every(({ stamp }, index) => stamp === record.entries[index]!.stamp);
  if (isAsLeft && how === "quick") return { isWhole: true, entries: record.entries, isMoved: false };
  const hashed = await hashTree(dir, found);
  const changed = hashed.find(({ sha256 }, index) => sha256 !== record.entries[index]!.sha256);
  if (changed) return broken("its content was changed", changed.path);
  return { isWhole: true, entries: hashed, isMoved: !isAsLeft };
}

/**
 * The checks that need no reading of content: names, kinds, modes, sizes, link targets. Both lists are sorted by path.
 */
function findDifference(recorded: readonly TreeEntry[], found: readonly TreeEntry[]): TreeCheck | undefined {
  for (let index = 0; index < Math.max(recorded.length, found.length); index += 1) {
    const [was, is] = [recorded[index], found[index]];
    if (is === undefined || (was !== undefined && was.path < is.path)) return broken("it is gone", was!.path);
    if (was === undefined || is.path < was.path) return broken("it was added", is.path);
    if (is.kind !== was.kind) return broken(`it was a ${was.kind} and is a ${is.kind}`, is.path);
    if (is.mode !== was.mode) return broken("its mode was changed", is.path);
    if (is.target !== was.target) return broken("the link was changed", is.path);
    if (is.bytes !== was.bytes) return broken("its size was changed", is.path);
  }
  return undefined;
}

const broken = (problem: string, path: string): TreeCheck => ({ isWhole: false, problem, path });
