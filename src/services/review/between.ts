/** A repository of nothing but borrowed objects, in which the work of two boxes can be compared. */
import { copyFile, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../../host/files.ts";
import { alternatesLine } from "./make-repository.ts";

export async function makeBetween(
  dir: string,
  other: string,
): Promise<{ readonly gitDir: string } & AsyncDisposable> {
  const root = await mkdtemp(join(tmpdir(), "agentbox-review-"));
  const gitDir = join(root, "between.git");
  for (const part of ["objects/info", "objects/pack", "refs"])
    await mkdir(join(gitDir, part), { recursive: true });
  // Ours, and of the same object format; two of different formats have nothing in common to be found.
  await copyFile(join(dir, "config"), join(gitDir, "config"));
  await writeFile(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
  const lines = [dir, other].map((lender) => alternatesLine(join(lender, "objects")));
  await writeFile(join(gitDir, "objects/info/alternates"), lines.join(""));
  return { gitDir, [Symbol.asyncDispose]: () => removeTree(root) };
}
