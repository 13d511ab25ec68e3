/**
 * Git in one review repository: our config only, no attributes of the user or the system, bounded memory and time. A
 * failure is review.failed with git's last words made harmless.
 */
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { type GitConfig, type GitOptions, git } from "../../host/git.ts";
import { type GitEnd, type GitProcess, spawnGit } from "../../host/git-process.ts";
import type { RunResult } from "../../host/run.ts";
import type { ReviewLimits } from "./limits.ts";

const config: GitConfig = {
  "core.bare": "true",
  "core.excludesFile": "/dev/null",
  "core.autocrlf": "false",
  "core.logAllRefUpdates": "false",
  // A file beyond this is binary to diff and passes through in pieces; it is never whole in memory.
  "core.bigFileThreshold": "32m",
  // Mapped windows count as memory.
  "core.packedGitWindowSize": "32m",
  "core.packedGitLimit": "512m",
  // SECURITY: it would come from the repository that objects are borrowed from, and could hide commits.
  "core.commitGraph": "false",
  "pack.threads": "2",
  "transfer.fsckObjects": "true",
};

export interface ReviewGitOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: GitConfig;
  readonly stdin?: string | Uint8Array;
  readonly timeoutMs?: number;
  readonly cwd?: string;
}

export class ReviewGit {
  readonly gitDir: string;
  readonly limits: ReviewLimits;
  readonly #objects: string | undefined;
  readonly #untilMs: number;
  readonly #user: GitOptions["user"];

  constructor(
    gitDir: string,
    limits: ReviewLimits,
    within?: { objects?: string; untilMs?: number; user?: GitOptions["user"] },
  ) {
    this.gitDir = gitDir;
    this.limits = limits;
    this.#objects = within?.objects;
    this.#untilMs = within?.untilMs ?? Number.POSITIVE_INFINITY;
    this.#user = within?.user;
  }

  /** The same repository, with objects in another directory, and one limit of time for everything done there. */
  within(objects: string, timeoutMs: number): ReviewGit {
    const untilMs = performance.now() + timeoutMs;
    return new ReviewGit(this.gitDir, this.limits, { objects, untilMs, user: this.#user });
  }

  run(args: readonly string[], options: ReviewGitOptions = {}): Promise<RunResult> {
    return git(args, this.#options(options));
  }

  async text(args: readonly string[], options: ReviewGitOptions = {}): Promise<string> {
    const result = await this.run(args, options);
    if (result.code !== 0) throw reviewFailed(args[0]!, result);
    return result.stdout;
  }

  /** Yields the output as it comes. Ends the process when the reader has seen enough. */
  async *stream(args: readonly string[], options: ReviewGitOptions = {}): AsyncGenerator<Buffer, void> {
    const running = this.start(args, options);
    running.stdin?.end(options.stdin);
    try {
      for await (const chunk of running.stdout) yield chunk as Buffer;
    } catch (error) {
      // A git that could not be started has no output; why, it says at its end.
      if (systemCode(error) !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
    } finally {
      // Nothing happens to one that has printed everything and is about to end by itself.
      if (!running.stdout.readableEnded) running.kill();
    }
    const end = await running.ended;
    if (end.code !== 0) throw reviewFailed(args[0]!, end);
  }

  start(args: readonly string[], options: ReviewGitOptions = {}, inputFile?: number): GitProcess {
    return spawnGit(args, this.#options(options), inputFile);
  }

  #options({ env, config: extra, stdin, timeoutMs, cwd = this.gitDir }: ReviewGitOptions): GitOptions {
    const left = this.#untilMs - performance.now();
    const objects = this.#objects === undefined ? {} : { GIT_OBJECT_DIRECTORY: this.#objects };
    return {
      gitDir: this.gitDir,
      cwd,
      user: this.#user,
      // SECURITY: a path is a path, also when it is called ":(exclude)*".
      env: { GIT_LITERAL_PATHSPECS: "1", ...objects, ...env },
      config: { ...config, ...extra },
      timeoutMs: Number.isFinite(left) ? Math.max(1, left) : (timeoutMs ?? this.limits.readTimeoutMs),
      maxMemoryBytes: this.limits.maxMemoryBytes,
      ...omitUndefined({ stdin }),
    };
  }
}

export function reviewFailed(step: string, end: Omit<GitEnd, "code">): AgentBoxError {
  return new AgentBoxError("review.failed", `The work could not be read (git ${step}): ${reasonOf(end)}.`, {
    hint: "If the project's repository was moved or pruned since, make the box again.",
  });
}

export function reasonOf({ stderr, timedOut, signal }: Omit<GitEnd, "code">): string {
  if (timedOut) return "it took too long";
  if (stderr.trim() === "") return signal === null ? "git gave no reason" : `git was ended by ${signal}`;
  // The last line only says that git gave up; an error before it is the reason.
  const lines = stderr.trim().split("\n");
  const line = lines.findLast((text) => text.startsWith("error: ")) ?? lines.at(-1)!;
  // SECURITY: the text may quote names that the box has chosen.
  return printable(line.replace(/^(?:error|fatal): /, "")).slice(0, 300);
}

const idPattern = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** SECURITY: what is not an id could be an option, or an expression that git evaluates. */
export function requireId(id: string): string {
  if (idPattern.test(id)) return id;
  throw new AgentBoxError("review.failed", `"${printable(id.slice(0, 80))}" is not the id of an object.`);
}
