/**
 * The packs of a source, as files: how many objects each holds, and how one comes into a clone. Only plain files count;
 * a link in place of one could lead to any file of the host.
 */
import { lstat } from "node:fs/promises";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";
import { CopyBudget, copyEntry } from "./copy-tree.ts";

export interface SourcePack {
  readonly directory: string;
  /** `pack-…`, without an ending. */
  readonly name: string;
  readonly objects: number;
}

/** Below this, making a new pack takes no longer than a second. */
const largeBytes = 16 << 20;
const packName = /^(pack-[0-9a-f]{40,64})\.pack$/;

export async function findLargePacks(directory: string): Promise<readonly SourcePack[]> {
  const handle = await SafeDirectory.open(directory).catch(() => undefined);
  if (handle === undefined) return [];
  await using packs = handle;
  const found: SourcePack[] = [];
  for (const file of await packs.names()) {
    const name = packName.exec(file)?.[1];
    if (name === undefined || (await lstat(packs.at(file))).size < largeBytes) continue;
    const pack = await readPack(directory, name);
    if (pack !== undefined) found.push(pack);
  }
  return found;
}

/** The count is in the head of every pack: "PACK", a version, and the number of objects. */
export async function readPack(directory: string, name: string): Promise<SourcePack | undefined> {
  await using packs = await SafeDirectory.open(directory);
  const file = await packs.openFile(`${name}.pack`).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0);
    if (bytesRead < 12 || buffer.toString("latin1", 0, 4) !== "PACK") return undefined;
    return { directory, name, objects: buffer.readUInt32BE(8) };
  } finally {
    await file.close();
  }
}

/** False when one of them has gone meanwhile. The index comes last, because git takes a pack with one for whole. */
export async function copyPacks(packs: readonly SourcePack[], packDir: string): Promise<boolean> {
  await using to = await SafeDirectory.open(packDir);
  for (const { directory, name } of packs) {
    await using from = await SafeDirectory.open(directory);
    for (const ending of ["pack", "idx"]) {
      const budget = new CopyBudget({ maxFiles: 1, maxBytes: Number.POSITIVE_INFINITY });
      const result = await copyEntry(from, to, `${name}.${ending}`, budget, { links: false });
      if (result !== "copied") return false;
    }
  }
  return true;
}
