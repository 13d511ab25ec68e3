/** The name of a tree's content: the same paths, modes, links and bytes have the same digest on every host. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { TreeEntry } from "./tree.ts";

/** A tree whose files have been read. `sha256` is empty for what has no content. */
export interface HashedEntry extends TreeEntry {
  readonly sha256: string;
}

const readers = 4;
const chunkBytes = 1 << 20;

export async function hashTree(
  dir: string,
  entries: readonly TreeEntry[],
  signal?: AbortSignal,
): Promise<HashedEntry[]> {
  const hashed: HashedEntry[] = [];
  const queue = entries.entries();
  // All of them take from one iterator, so each file is read once.
  const work = async (): Promise<void> => {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (const [index, entry] of queue) {
      signal?.throwIfAborted();
      const sha256 = entry.kind === "file" ? await hashFile(join(dir, entry.path), buffer) : "";
      hashed[index] = { ...entry, sha256 };
    }
  };
  await Promise.all(Array.from({ length: readers }, work));
  return hashed;
}

async function hashFile(path: string, buffer: Buffer): Promise<string> {
  const hash = createHash("sha256");
  // SECURITY: O_NOFOLLOW, because a link put here since the tree was listed would have another file hashed.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

export function digestOf(entries: readonly HashedEntry[]): string {
  const hash = createHash("sha256");
  for (const { path, kind, mode, target, sha256 } of entries)
    hash.update(`${JSON.stringify([path, kind, mode, target, sha256])}\n`);
  return `sha256:${hash.digest("hex")}`;
}
