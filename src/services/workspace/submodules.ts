/**
 * Which submodules a clone has: the places of its HEAD that name a commit of another repository and that
 * `.gitmodules` tells the address of. Read from objects, never from files that a link could stand in for.
 */
import { join } from "node:path";
import { pathKind } from "../../host/files.ts";
import { git } from "../../host/git.ts";

export async function listSubmodules(gitDir: string, target: string): Promise<readonly string[]> {
  // Most repositories have none, and need not wait for git to say so.
  if ((await pathKind(join(target, ".gitmodules"))) === undefined) return [];
  const options = { gitDir, cwd: gitDir } as const;
  const key = String.raw`^submodule\..*\.path$`;
  const named = await git(["config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp", key], options);
  if (named.code !== 0) return [];
  const paths = records(named.stdout)
    .map((record) => record.slice(record.indexOf("\n") + 1))
    .filter((path) => path.length < maxPathLength);
  // SECURITY: a path is a path, also when it is called ":(exclude)*".
  const env = { GIT_LITERAL_PATHSPECS: "1" };
  const found = await git(["ls-tree", "-z", "--full-tree", "HEAD", "--", ...paths.slice(0, maxPaths)], {
    ...options,
    env,
  });
  return records(found.stdout)
    .filter((record) => record.startsWith("160000 "))
    .map((record) => record.slice(record.indexOf("\t") + 1));
}

/** SECURITY: more than a command line holds would let a repository stop its own clone. */
const maxPaths = 200;
const maxPathLength = 1_024;

const records = (text: string): readonly string[] => text.split("\0").filter((record) => record !== "");
