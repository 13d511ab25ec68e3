/** Bytes handed to a child through a descriptor: complete before the child starts, and without a name afterwards. */
import { randomBytes } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Returns a descriptor that stands at the first byte. The caller closes it. */
export function openSealedFile(directory: string, content: Uint8Array): number {
  const path = join(directory, `.${randomBytes(8).toString("hex")}.sealed`);
  const fd = openSync(path, "wx+", 0o600);
  try {
    unlinkSync(path);
    // A write at a position leaves the descriptor's own position at the start, where the child begins to read.
    let written = 0;
    while (written < content.length)
      written += writeSync(fd, content, written, content.length - written, written);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
