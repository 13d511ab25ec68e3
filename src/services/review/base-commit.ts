/**
 * The first commit of a box: one of the project's, the files of a workspace that is no repository, or nothing. Files
 * are read as they are: ignored ones are left out, filters that attributes ask for do not exist.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { type ReviewGit, reviewFailed } from "./review-git.ts";

/** A fixed author, so that the same files make the same commit. */
const identity = {
  GIT_AUTHOR_NAME: "AgentBox",
  GIT_AUTHOR_EMAIL: "agent@agentbox.invalid",
  GIT_AUTHOR_DATE: "@0 +0000",
  GIT_COMMITTER_NAME: "AgentBox",
  GIT_COMMITTER_EMAIL: "agent@agentbox.invalid",
  GIT_COMMITTER_DATE: "@0 +0000",
};

export async function commitBase(git: ReviewGit, files: string | undefined): Promise<string> {
  const tree = files === undefined ? await git.text(["mktree"], { stdin: "" }) : await treeOf(git, files);
  const commit = ["commit-tree", "-m", "What the box began with", tree.trim()];
  return (await git.text(commit, { env: identity })).trim();
}

async function treeOf(git: ReviewGit, files: string): Promise<string> {
  const index = join(git.gitDir, "base-index");
  const options = {
    env: { GIT_WORK_TREE: files, GIT_INDEX_FILE: index },
    config: {
      "core.bare": "false",
      "core.compression": "1",
      "core.symlinks": "true",
      "core.fileMode": "true",
    },
    timeoutMs: git.limits.takeTimeoutMs,
  };
  try {
    const added = await git.run(["add", "--all", "--ignore-errors", "--", "."], { ...options, cwd: files });
    // A repository in it comes as a reference to its commit. One without a commit cannot come (that is what 1 means)
    // and is no reason to leave the rest out.
    if (added.code !== 0 && added.code !== 1) throw reviewFailed("add", added);
    return await git.text(["write-tree"], options);
  } finally {
    await rm(index, { force: true });
  }
}

/** The commit itself must be there, and be one. */
export async function requireCommit(git: ReviewGit, commit: string): Promise<string> {
  const type = await git.text(["cat-file", "-t", commit]).catch(() => "");
  if (type.trim() === "commit") return commit;
  throw new AgentBoxError("review.failed", `The project's repository has no commit ${commit}.`, {
    hint: "It may have been pruned; make the box again.",
  });
}
