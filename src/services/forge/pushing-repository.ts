/**
 * A git directory that only the daemon can read or write, with nothing in it but what a push needs to know: where
 * objects are, and where a shallow history ends. It is gone afterwards.
 */
import { constants } from "node:fs";
import { mkdir, mkdtemp, open, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PushingRepository extends AsyncDisposable {
  readonly gitDir: string;
}

/** `borrows` is a git directory whose objects are read; without it there are none. */
export async function openPushingRepository(source?: {
  readonly borrows: string;
  readonly isSha256: boolean;
}): Promise<PushingRepository> {
  const gitDir = await mkdtemp(join(await realpath(tmpdir()), "agentbox-push-"));
  const repository = {
    gitDir,
    [Symbol.asyncDispose]: () => rm(gitDir, { recursive: true, force: true }),
  };
  try {
    for (const part of ["refs", "objects", "objects/info"]) await mkdir(join(gitDir, part));
    const format = source?.isSha256 ? "1\n[extensions]\n\tobjectformat = sha256" : "0";
    const config = `[core]\n\tbare = true\n\trepositoryformatversion = ${format}\n`;
    await writeFile(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
    await writeFile(join(gitDir, "config"), config);
    if (source) {
      await writeFile(join(gitDir, "objects/info/alternates"), `${join(source.borrows, "objects")}\n`);
      const shallow = await readShallow(join(source.borrows, "shallow"));
      if (shallow.length > 0) await writeFile(join(gitDir, "shallow"), `${shallow.join("\n")}\n`);
    }
    return repository;
  } catch (error) {
    await repository[Symbol.asyncDispose]();
    throw error;
  }
}

const maxShallowBytes = 4 << 20;

/** SECURITY: the directory belongs to the person, and a link in it could lead to what only the daemon may read. */
async function readShallow(path: string): Promise<readonly string[]> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return [];
  try {
    const { size } = await file.stat();
    if (size > maxShallowBytes) return [];
    const lines = (await file.readFile("latin1")).split("\n");
    return lines.filter((line) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(line));
  } finally {
    await file.close();
  }
}
