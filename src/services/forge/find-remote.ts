/** The address of a remote, read from the project's own config file alone. Reading runs nothing and asks nobody. */
import { join } from "node:path";
import { git } from "../../host/git.ts";
import { findRepository } from "../../host/git-repository.ts";

export async function findRemote(projectDir: string, name: string): Promise<string | undefined> {
  const repository = await findRepository(projectDir);
  if (repository === undefined) return undefined;
  const { commonDir } = repository;
  for (const key of ["pushurl", "url"]) {
    // As with git itself, one that is for pushing wins. Rewriting by `url.*.insteadOf` is no part of this.
    const args = ["config", "--file", join(commonDir, "config"), "--null", "--get", `remote.${name}.${key}`];
    const { code, stdout } = await git(args, { gitDir: commonDir, cwd: commonDir });
    const [url] = stdout.split("\0");
    if (code === 0 && url) return url;
  }
  return undefined;
}
