/** The branch that a workspace is on, from its .git/HEAD alone: git is not run, and no link of the box is followed. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { readSmallFile } from "../../host/files.ts";

/** Longer than any branch that git makes a file for. */
const maxHeadBytes = 1_024;
const onBranch = /^ref: refs\/heads\/([^\p{Cc} ~^:?*[\\]{1,255})\n?$/u;

export async function readBranch(workspace: string): Promise<string | undefined> {
  // SECURITY: by descriptor, because a box can put a link in place of .git and have a file of the host read.
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const directory = await open(join(workspace, ".git"), flags).catch(() => undefined);
  if (directory === undefined) return undefined;
  try {
    const text = await readSmallFile(`/proc/self/fd/${directory.fd}/HEAD`, maxHeadBytes).catch(
      () => undefined,
    );
    return text === undefined ? undefined : onBranch.exec(text)?.[1];
  } finally {
    await directory.close();
  }
}
