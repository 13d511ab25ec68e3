/** Moves one branch of a remote, from where it is known to be. Nothing else there is touched, and no hook runs here. */
import { AgentBoxError } from "../../base/errors.ts";
import type { RunResult } from "../../host/run.ts";
import type { PushOrder } from "../../ports/forge.ts";
import { requireBranchName } from "./branch-name.ts";
import { quoteSafely } from "./mask.ts";
import { openPushingRepository } from "./pushing-repository.ts";
import { type RemoteGitOptions, remoteFailed, remoteGit } from "./remote-git.ts";

export async function push(order: PushOrder, options: RemoteGitOptions): Promise<void> {
  const ref = `refs/heads/${requireBranchName(order.branch)}`;
  const commit = requireId(order.commit);
  // An empty value means that the branch must not be there.
  const expected = order.expected === undefined ? "" : requireId(order.expected);
  await using scratch = await openPushingRepository({
    borrows: order.repository,
    isSha256: commit.length === 64,
  });
  const flags = [
    "--porcelain",
    "--no-verify",
    "--no-follow-tags",
    "--no-signed",
    "--atomic",
    "--no-progress",
  ];
  const lease = `--force-with-lease=${ref}:${expected}`;
  const args = ["push", ...flags, lease, "--", order.url, `${commit}:${ref}`];
  const result = await remoteGit(scratch.gitDir, args, order, options);
  if (result.code === 0) return;
  throw refusalOf(result, order) ?? remoteFailed(result, order);
}

/** The remote's answer about the branch itself; its reasons are in its own words. */
function refusalOf({ stdout, stderr }: RunResult, order: PushOrder): AgentBoxError | undefined {
  const [, summary] = /^!\t[^\t]*\t(.*)$/m.exec(stdout) ?? [];
  if (summary === undefined) return undefined;
  if (/stale info|fetch first|non-fast-forward|already exists|(?:cannot|failed to) lock/.test(summary)) {
    return new AgentBoxError("push.refused", `The branch ${order.branch} was moved by another person.`, {
      hint: "Look at it there, and push to another branch with --branch.",
    });
  }
  const reasons = stderr
    .split("\n")
    .filter((line) => /^remote: \S/.test(line))
    .map((line) => line.slice("remote: ".length).trim());
  const why = quoteSafely([summary, ...reasons].join("; "), order.credential);
  return new AgentBoxError("push.refused", `The remote refused the branch ${order.branch}: ${why}.`, {
    hint: "Choose another branch with --branch, or change the remote's rules.",
  });
}

/** SECURITY: an id becomes a part of arguments. */
function requireId(text: string): string {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return text;
  throw new AgentBoxError("push.failed", "The commit to push is not a commit id.", {
    hint: "Look at the work again, then try again.",
  });
}
