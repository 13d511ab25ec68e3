/**
 * Asks package managers what they are configured with: as the daemon's user, from the root directory, without a
 * shell, within a time limit.
 */
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { type RunResult, run } from "../../host/run.ts";

export interface ToolHost {
  readonly home: string;
  /** A variable of the person's environment. */
  variable(name: string): string | undefined;
  /** The output of the first of these programs that is installed; undefined when none is. */
  ask(programs: readonly string[], args: readonly string[]): Promise<string | undefined>;
  /** The same with more variables, and with all that it prints although it fails; undefined also when it does not end. */
  tryOut(
    programs: readonly string[],
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<string | undefined>;
  /** Undefined when there is no such file. */
  readText(path: string): Promise<string | undefined>;
  /** Full paths in no order; empty when there is no such directory. */
  list(directory: string): Promise<readonly string[]>;
}

const timeoutMs = 20_000;
const maxOutputBytes = 1 << 20;
/** Variables in which these tools look for their configuration. */
const configVariable =
  /^(?:npm_config_.*|pip_.*|goproxy|gosumdb|goenv|goprivate|goroot|cargo_home|xdg_config_home)$/i;

/** `goRoot` is where Go unpacks itself. */
export function openToolHost(env: NodeJS.ProcessEnv, goRoot = "/usr/local/go"): ToolHost {
  const home = env["HOME"] ?? "/";
  const childEnv: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => configVariable.test(name))),
    HOME: home,
    PATH: [env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin", ...usualPath(home, goRoot)].join(":"),
    LC_ALL: "C",
    // Wide, so that no answer is broken into lines.
    COLUMNS: "1000",
    // Asking must not make a tool fetch another version of itself.
    GOTOOLCHAIN: "local",
  };
  return {
    home,
    variable: (name) => env[name],
    async ask(programs, args) {
      for (const program of programs) {
        const result = await runTool(program, args, childEnv);
        if (result !== undefined) return result;
      }
      return undefined;
    },
    async tryOut(programs, args, more) {
      for (const program of programs) {
        const result = await runProgram([program, ...args], { ...childEnv, ...more });
        if (result !== undefined) return result.timedOut ? undefined : result.stdout + result.stderr;
      }
      return undefined;
    },
    readText: (path) => orAbsent(readFile(path, "utf8"), undefined),
    list: async (directory) => (await orAbsent(readdir(directory), [])).map((name) => join(directory, name)),
  };
}

async function runTool(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const result = await runProgram([program, ...args], env);
  if (result === undefined) return undefined;
  if (result.code === 0) return result.stdout;
  const how = result.timedOut ? "did not answer in time" : `ended with ${result.code ?? result.signal}`;
  throw new AgentBoxError("policy.invalid", `${program} ${how} when it was asked for its configuration.`, {
    hint: `Try it yourself: ${[program, ...args].join(" ")}`,
    facts: { program },
  });
}

/** Undefined when it is not installed. */
async function runProgram(
  argv: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Promise<RunResult | undefined> {
  try {
    // SECURITY: in the root directory, because a project's own file (.npmrc, pip.conf, go.env) would choose the hosts.
    return await run(argv, { cwd: "/", env, timeoutMs, maxOutputBytes });
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "EACCES") return undefined;
    throw error;
  }
}

/** Where these tools install themselves; a service's PATH often lacks them. */
const usualPath = (home: string, goRoot: string): readonly string[] => [
  join(goRoot, "bin"),
  join(home, ".cargo", "bin"),
  join(home, ".local", "bin"),
];

async function orAbsent<T, U>(value: Promise<T>, absent: U): Promise<T | U> {
  try {
    return await value;
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return absent;
    throw error;
  }
}

/** The tool is not installed, so its hosts are unknown. */
export const notInstalled = (tool: string): AgentBoxError =>
  new AgentBoxError("policy.invalid", `${tool} is not installed on this host, so its hosts are not known.`, {
    hint: `Install ${tool} on this host, or write the hosts in network.allow.`,
    facts: { preset: tool },
  });
