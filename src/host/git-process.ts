/**
 * Git on the host as a running process, for output that is too large to hold or that is not text. The same
 * restrictions as in git.ts; always a time limit, and what it says on stderr is kept only in part.
 */
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { type GitOptions, gitCommand } from "./git.ts";

export interface GitEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly timedOut: boolean;
}

export interface GitProcess {
  /** Undefined when a file was given as the input. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  /** Never rejects: a git that could not be started ends with code null and the reason as its stderr. */
  readonly ended: Promise<GitEnd>;
  kill(): void;
}

const maxStderrBytes = 16 << 10;

/** `inputFile` is an open file, read from where it stands. */
export function spawnGit(args: readonly string[], options: GitOptions, inputFile?: number): GitProcess {
  const { argv, cwd, env, timeoutMs } = gitCommand(args, options);
  const child = spawn(argv[0], argv.slice(1), {
    cwd,
    env,
    ...options.user,
    stdio: [inputFile ?? "pipe", "pipe", "pipe"],
  });
  const stdout = child.stdout!;
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  const ended = new Promise<GitEnd>((resolve) => {
    const stderrParts: Buffer[] = [];
    let left = maxStderrBytes;
    child.stderr!.on("data", (chunk: Buffer) => {
      if (left > 0) stderrParts.push(chunk.subarray(0, left));
      left -= chunk.length;
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve({ code: null, signal: null, stderr: error.message, timedOut });
    });
    // "exit" would lose what is still in the pipe, "close" waits for a reader of stdout, which may have gone.
    child.on("exit", () => clearTimeout(timer));
    child.on("close", (code, signal) =>
      resolve({ code, signal, stderr: Buffer.concat(stderrParts).toString(), timedOut }),
    );
  });
  child.stdin?.on("error", () => undefined);
  const kill = (): void => {
    child.kill("SIGKILL");
    stdout.destroy();
  };
  return { stdin: child.stdin ?? undefined, stdout, ended, kill };
}
