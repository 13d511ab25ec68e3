/**
 * Modes of a tree in the store: every box can read it, whatever its user, and only the owner could ever change it. Files
 * cannot be written at all; directories can by their owner, who must be able to remove them with ordinary means.
 */
import { chmodSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { TreeEntry } from "./tree.ts";

const batch = 512;
const dirMode = 0o755;

function sealedMode({ kind, mode }: TreeEntry): number {
  if (kind === "dir") return dirMode;
  return (mode & 0o111) === 0 ? 0o444 : 0o555;
}

/** SECURITY: exact modes, so that a package cannot bring a setuid bit or a file that others may write. */
export async function sealTree(dir: string, entries: readonly TreeEntry[]): Promise<void> {
  for (const [index, entry] of entries.entries()) {
    // chmod follows links; a link has no mode of its own.
    if (entry.kind !== "link" && entry.mode !== sealedMode(entry))
      chmodSync(join(dir, entry.path), sealedMode(entry));
    if (index % batch === 0) await setImmediate();
  }
  await chmod(dir, dirMode);
}
