/** How full the directories of the box are that lie in memory: programs say only "no space left", and not whose. */
import { statfsSync } from "node:fs";
import { type MemoryDir, memoryDirs } from "../contract/box-paths.ts";
import type { MemoryUse } from "../contract/link/messages.ts";

const tmpfsMagic = 0x01021994;

export function readMemoryDirs(): MemoryUse[] {
  return (Object.keys(memoryDirs) as MemoryDir[]).flatMap((path) => {
    try {
      const { type, blocks, bavail, bsize } = statfsSync(path);
      // In an image, one of them may be something else.
      if (type !== tmpfsMagic || blocks === 0) return [];
      return [{ path, sizeBytes: blocks * bsize, usedBytes: (blocks - bavail) * bsize }];
    } catch {
      return [];
    }
  });
}
