/**
 * Git with the rights of the person, every byte of its output kept, and no way to another machine: a missing object is
 * an error and never a reason to fetch.
 */
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { type GitOptions, gitCommand } from "../../host/git.ts";
import { type RunResult, run } from "../../host/run.ts";
import { gitStepFailed } from "./failure.ts";
import type { Person } from "./person.ts";

export interface GuardedGitOptions extends Omit<GitOptions, "maxMemoryBytes"> {
  readonly person?: Person;
  readonly stdinFd?: number;
  readonly stdoutFd?: number;
  readonly maxOutputBytes?: number;
}

export async function guardedGit(args: readonly string[], options: GuardedGitOptions): Promise<RunResult> {
  const { person, stdin, stdinFd, stdoutFd, maxOutputBytes = 256 << 20 } = options;
  const { argv, ...rest } = gitCommand(args, {
    ...options,
    // SECURITY: without a single protocol even a partial clone cannot start the program its config names.
    env: { ...options.env, GIT_ALLOW_PROTOCOL: "" },
    config: { "protocol.file.allow": "never", ...options.config },
  });
  try {
    return await run(argv, {
      ...rest,
      ...person?.user,
      encoding: "latin1",
      maxOutputBytes,
      ...omitUndefined({ stdin, stdinFd, stdoutFd }),
    });
  } catch (error) {
    throw new AgentBoxError("merge.failed", `Git could not be started: ${messageOf(error)}.`, {
      hint: "Check that git is installed and that the repository's directory is still there.",
      cause: error,
    });
  }
}

export async function guardedGitOk(args: readonly string[], options: GuardedGitOptions): Promise<string> {
  const result = await guardedGit(args, options);
  if (result.code !== 0) throw gitStepFailed(args[0]!, result);
  return result.stdout;
}
