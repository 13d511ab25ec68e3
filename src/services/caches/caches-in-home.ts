/** Which package caches a box's home has. Only real directories count: a planted link leads to none. */
import { join } from "node:path";
import { cachePaths } from "../../contract/cache.ts";
import { pathKind } from "../../host/files.ts";

export async function cachesIn(home: string): Promise<readonly string[]> {
  const isHere = await Promise.all(cachePaths.map((path) => isDirectoryBelow(home, path.split("/"))));
  return cachePaths.filter((_, at) => isHere[at]);
}

// SECURITY: step by step. A box may make `.cache` a link to a directory of the person who runs the daemon, and what is
// archived by a path through it would be theirs.
async function isDirectoryBelow(home: string, names: readonly string[]): Promise<boolean> {
  for (let depth = 1; depth <= names.length; depth++) {
    if ((await pathKind(join(home, ...names.slice(0, depth)))) !== "dir") return false;
  }
  return true;
}
