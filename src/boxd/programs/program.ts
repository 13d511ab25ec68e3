import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";

/** A process of the box with its input and output; behind it is a pair of pipes or a terminal. */
export interface Program {
  readonly pid: number;
  /** False when the program is slow to read: wait for `drained`. */
  write(chunk: Uint8Array): boolean;
  endInput(): void;
  pause(): void;
  resume(): void;
  resize(cols: number, rows: number): void;
  /** To the whole process group. */
  signal(signal: NodeJS.Signals): void;
}

export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ProgramSink {
  /** `channel` is 2 for stderr; a terminal has only 1. */
  output(chunk: Uint8Array, channel: 1 | 2): void;
  drained(): void;
  /** Once, after the last output. */
  ended(end: ProgramEnd): void;
}

export interface ProgramSpec {
  readonly argv: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** Another process may keep the output open after the program has ended; silence of this length is taken as its end. */
export const silenceMs = 250;

/** Says why a program cannot be started in words of the error table, before anything is forked. */
export function findExecutable({ argv, env, cwd }: ProgramSpec): string {
  const directory = statSync(cwd, { throwIfNoEntry: false });
  if (!directory?.isDirectory()) {
    throw new AgentBoxError("file.not_found", `The directory ${cwd} does not exist in the box.`);
  }
  const [name = ""] = argv;
  const candidates = name.includes("/")
    ? [resolve(cwd, name)]
    : searchDirs(env, cwd).map((dir) => join(dir, name));
  let isThere = false;
  for (const path of name === "" ? [] : candidates) {
    const file = statSync(path, { throwIfNoEntry: false });
    if (!file) continue;
    isThere = true;
    if (file.isFile() && isExecutable(path)) return path;
  }
  if (isThere) throw new AgentBoxError("exec.not_executable", `The command ${name} cannot be executed.`);
  throw new AgentBoxError("exec.not_found", `The command ${name} does not exist in the box.`);
}

const searchDirs = (env: Record<string, string>, cwd: string): string[] =>
  (env["PATH"] ?? "").split(":").map((dir) => (isAbsolute(dir) ? dir : resolve(cwd, dir)));

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
