/**
 * Git on the host, on repositories that may be hostile. Nothing a repository brings along is executed: no hooks,
 * no fsmonitor, no filters, no transport but plain files, no fetching of missing objects, no config of its own.
 */
import { omitUndefined } from "../base/omit-undefined.ts";
import { AgentBoxError, messageOf } from "../base/errors.ts";
import { printable } from "../base/printable.ts";
import { type RunResult, run } from "./run.ts";

export type GitConfig = Readonly<Record<string, string>>;

export interface GitOptions {
  /** Always said outright, so that git never goes looking for a repository and finds a planted one. */
  readonly gitDir: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: GitConfig;
  readonly timeoutMs?: number;
  readonly stdin?: string | Uint8Array;
  /** Whose rights it has, where the daemon has more. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** How much address space git may have; what it reads may be made to need all there is. */
  readonly maxMemoryBytes?: number;
  readonly encoding?: "utf8" | "latin1";
}

/** SECURITY: what is given on the command line wins over every config file, so a repository cannot turn it back on. */
const baseConfig: GitConfig = {
  "safe.directory": "*",
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.untrackedCache": "false",
  "core.sshCommand": "false",
  "core.askPass": "false",
  "core.attributesFile": "/dev/null",
  "core.protectNTFS": "true",
  "core.protectHFS": "true",
  "protocol.allow": "never",
  "protocol.file.allow": "always",
  "submodule.recurse": "false",
  "fetch.recurseSubmodules": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "advice.detachedHead": "false",
};

const baseEnv = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_ALLOW_PROTOCOL: "file",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_LFS_SKIP_SMUDGE: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  // Git takes memory for each object and gives it back, and libc asks the kernel for it each time: half of all the time.
  MALLOC_TOP_PAD_: String(4 << 20),
  MALLOC_TRIM_THRESHOLD_: String(32 << 20),
};

/** As variables, because `-c a.b=c.d=x` would be cut at the first "=", which a hostile name may contain. */
function configEnv(config: GitConfig): Record<string, string> {
  const entries = Object.entries(config);
  const pairs = entries.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(pairs) };
}

/**
 * The daemon's own files are closed to other users, but a checkout has the modes it would have anywhere. A constant
 * text.
 */
const asInTheBox = 'umask 022; exec git "$@"';
/** A limit that cannot be set because the daemon itself has a lower one is met already. */
const withMemoryLimit =
  'umask 022; ulimit -v "$1" 2>/dev/null || [ "$(ulimit -H -v)" -le "$1" ] || exit 125; shift; exec git "$@"';

export interface GitCommand {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly timeoutMs: number;
}

/** The program and its environment. */
export function gitCommand(args: readonly string[], options: GitOptions): GitCommand {
  const { gitDir, cwd, env, config, timeoutMs = 30 * 60_000, maxMemoryBytes } = options;
  const settings = configEnv({ ...baseConfig, ...config });
  const argv: readonly [string, ...string[]] =
    maxMemoryBytes === undefined
      ? ["/bin/sh", "-c", asInTheBox, "git", ...args]
      : ["/bin/sh", "-c", withMemoryLimit, "git", String(Math.ceil(maxMemoryBytes / 1024)), ...args];
  return { argv, cwd, env: { ...baseEnv, GIT_DIR: gitDir, ...settings, ...env }, timeoutMs };
}

export async function git(args: readonly string[], options: GitOptions): Promise<RunResult> {
  const { argv, ...rest } = gitCommand(args, options);
  try {
    const stdin = omitUndefined({ stdin: options.stdin });
    const encoding = options.encoding ?? "utf8";
    return await run(argv, { ...rest, ...stdin, ...options.user, encoding, maxOutputBytes: 64 << 20 });
  } catch (error) {
    throw new AgentBoxError("workspace.failed", `Git could not be started: ${messageOf(error)}.`, {
      hint: "Install git, or use the workspace mode copy.",
      cause: error,
    });
  }
}

export async function gitOk(args: readonly string[], options: GitOptions): Promise<string> {
  const result = await git(args, options);
  if (result.code === 0) return result.stdout;
  throw gitFailed(args[0]!, result);
}

export function gitFailed(step: string, { stderr, timedOut }: RunResult): AgentBoxError {
  // SECURITY: the text may quote names from the repository.
  const reason = printable(stderr.trim().split("\n").at(-1) ?? "").slice(0, 300);
  const why = timedOut ? "it took too long" : reason || "it gave no reason";
  return new AgentBoxError("workspace.failed", `The repository could not be cloned (git ${step}): ${why}.`, {
    hint: "Check it with git fsck, or use the workspace mode copy.",
  });
}
