/** Where an entry is made before it appears: directories of a name that never counts, gone when the work is over. */
import { mkdtemp, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { pathKind, removeTree } from "../../host/files.ts";

const prefix = ".new-";

export interface Stage extends AsyncDisposable {
  readonly tree: string;
  readonly scratch: string;
}

export async function openStage(agentDir: string): Promise<Stage> {
  // In the same directory as the result, so that a rename is all it takes.
  const tree = await mkdtemp(join(agentDir, prefix));
  const scratch = await mkdtemp(join(agentDir, prefix));
  return {
    tree,
    scratch,
    async [Symbol.asyncDispose]() {
      await Promise.all([removeTree(tree), removeTree(scratch)]);
    },
  };
}

/** Puts a finished tree where it belongs; one that is there (because it was found broken) goes. */
export async function moveIntoPlace(tree: string, target: string): Promise<void> {
  if ((await pathKind(target)) !== undefined) await discard(target);
  await rename(tree, target);
}

/** Out of sight at once, then gone; a crash in between leaves only what the next start removes. */
export async function discard(tree: string): Promise<void> {
  const away = join(tree, "..", `${prefix}${process.pid}-${Date.now()}`);
  await rename(tree, away);
  await removeTree(away);
}

/** Removes what a crash left: work that was not finished, and trees that no record speaks of. */
export async function sweep(agentDir: string): Promise<void> {
  const names = await readdir(agentDir).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return [];
    throw error;
  });
  const known = new Set(
    names.filter((name) => name.endsWith(".json")).flatMap((name) => [name, name.slice(0, -5)]),
  );
  for (const name of names) if (!known.has(name)) await removeTree(join(agentDir, name));
}
