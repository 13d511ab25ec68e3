/** Failures of a merge, in words for a person. Text that git quotes from a repository is made safe to show. */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { RunResult } from "../../host/run.ts";

export const mergeFailed = (message: string, hint: string, facts?: Record<string, unknown>): AgentBoxError =>
  new AgentBoxError("merge.failed", message, { hint, facts });

export const cannotUndo = (message: string, hint: string, paths: readonly string[] = []): AgentBoxError =>
  new AgentBoxError("merge.cannot_undo", message, { hint, facts: { paths } });

export function gitStepFailed(step: string, { stderr, timedOut }: RunResult): AgentBoxError {
  const reason = printable(asText(stderr).trim().split("\n").at(-1) ?? "").slice(0, 300);
  const why = timedOut ? "it took too long" : reason || "it gave no reason";
  const isLocked = /index\.lock|cannot lock ref|Unable to create/.test(stderr);
  return mergeFailed(
    `Git refused (git ${step}): ${why}.`,
    isLocked
      ? "Another git command is at work in the repository. Wait for it, or remove the lock file it left behind."
      : "Check the repository with git status and git fsck, then try again.",
  );
}

/** Git's output is kept a byte per character, so that every path can be found again; this is how it is shown. */
export const asText = (bytes: string): string => Buffer.from(bytes, "latin1").toString("utf8");
