/** What is at a remote before anything is sent: its default branch, and where the branches in question are. */
import type { RemotePlace, RemoteState } from "../../ports/forge.ts";
import { openPushingRepository } from "./pushing-repository.ts";
import { requireBranchName } from "./branch-name.ts";
import { type RemoteGitOptions, remoteFailed, remoteGit } from "./remote-git.ts";

export async function look(
  place: RemotePlace,
  branches: readonly string[],
  options: RemoteGitOptions,
): Promise<RemoteState> {
  const wanted = new Map(branches.map((name) => [`refs/heads/${requireBranchName(name)}`, name]));
  await using room = await openPushingRepository();
  const args = ["ls-remote", "--symref", "--quiet", "--", place.url, "HEAD", ...wanted.keys()];
  const result = await remoteGit(room.gitDir, args, place, options);
  if (result.code !== 0) throw remoteFailed(result, place);
  const tips = new Map<string, string>();
  let defaultBranch: string | undefined;
  for (const line of result.stdout.split("\n")) {
    const [value = "", name = ""] = line.split("\t");
    // A pattern finds names that only end like it, too.
    const branch = wanted.get(name);
    if (branch !== undefined && /^[0-9a-f]+$/.test(value)) tips.set(branch, value);
    if (name === "HEAD") defaultBranch = /^ref: refs\/heads\/(.+)$/.exec(value)?.[1] ?? defaultBranch;
  }
  return { defaultBranch, tips };
}
