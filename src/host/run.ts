/**
 * Runs a program to its end. Never a shell, never the inherited environment unless it is passed in, always a
 * time limit and a ceiling on what is kept of the output.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { AgentBoxError, messageOf } from "../base/errors.ts";
import { omitUndefined } from "../base/omit-undefined.ts";
import { signalProcess } from "./processes.ts";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string | Uint8Array;
  /** An open file in place of `stdin`, or for what would be `stdout`: of any size, and never held in memory. */
  readonly stdinFd?: number;
  readonly stdoutFd?: number;
  /** `latin1` keeps every byte of the output as one character, for names that are no UTF-8. */
  readonly encoding?: "utf8" | "latin1";
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly signal?: AbortSignal;
  /** Ends everything the program has started, at the time limit and once it has printed more than is kept. */
  readonly isStrict?: boolean;
}

export interface RunResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

const defaultEnv = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

export function run(argv: readonly [string, ...string[]], options: RunOptions = {}): Promise<RunResult> {
  const { timeoutMs = 60_000, maxOutputBytes = 4 << 20, encoding = "utf8" } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0], argv.slice(1), {
      cwd: options.cwd,
      env: options.env ?? defaultEnv,
      stdio: [options.stdinFd ?? "pipe", options.stdoutFd ?? "pipe", "pipe"],
      // A process group of its own, so that the whole of it can be ended.
      detached: options.isStrict ?? false,
      ...omitUndefined({ uid: options.uid, gid: options.gid, signal: options.signal }),
    });
    let timedOut = false;
    const end = () => (options.isStrict ? endGroup(child) : child.kill("SIGKILL"));
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, timeoutMs);
    const keep = (chunks: Buffer[], limit: { left: number }) => (chunk: Buffer) => {
      if (limit.left > 0) chunks.push(chunk.subarray(0, limit.left));
      limit.left -= chunk.length;
      if (limit.left < 0 && options.isStrict && chunks === stdout) end();
    };
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on("data", keep(stdout, { left: maxOutputBytes }));
    child.stderr?.on("data", keep(stderr, { left: maxOutputBytes }));
    child.on("error", (error) => {
      clearTimeout(timer);
      if (options.isStrict) end();
      reject(error);
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({
        code,
        signal,
        stdout: Buffer.concat(stdout).toString(encoding),
        stderr: Buffer.concat(stderr).toString(),
        timedOut,
      });
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(options.stdin);
  });
}

function endGroup(child: ChildProcess): void {
  if (child.pid !== undefined) signalProcess(-child.pid, "SIGKILL");
  // A process that has left the group may still hold these open, and is not waited for.
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Like `run`, but a program that is missing or fails is an error. */
export async function runOk(
  argv: readonly [string, ...string[]],
  options: RunOptions = {},
): Promise<RunResult> {
  let result: RunResult;
  try {
    result = await run(argv, options);
  } catch (error) {
    throw new AgentBoxError(
      "internal.unexpected",
      `The program ${argv[0]} could not be started: ${messageOf(error)}.`,
      {
        cause: error,
      },
    );
  }
  if (result.code === 0) return result;
  const how = result.timedOut ? "ran too long" : `ended with ${result.code ?? result.signal}`;
  const lastLines = result.stderr.trim().split("\n").slice(-3).join(" ");
  throw new AgentBoxError(
    "internal.unexpected",
    `The program ${argv[0]} ${how}${lastLines ? `: ${lastLines}` : ""}.`,
    {
      facts: { argv: [...argv], code: result.code, signal: result.signal },
    },
  );
}
