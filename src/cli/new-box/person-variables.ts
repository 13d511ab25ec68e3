/** The caller's time zone, language, editor and name in commits, for a box that they make. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { gitVariables, programVariables, settingVariables } from "../../contract/person-variables.ts";
import { inheritedEnv, readHostEnv, readHostVariable } from "../../host/env.ts";
import { run } from "../../host/run.ts";

const gitTimeoutMs = 2_000;
/** A box has these directories of the host; a program elsewhere would not be found. */
const shown = ["/usr/", "/bin/", "/sbin/"];

export async function personVariables(): Promise<Record<string, string>> {
  const { path } = readHostEnv();
  const found = settingVariables.flatMap((name): [string, string][] => {
    const value = readHostVariable(name);
    if (value === undefined || value === "") return [];
    return programVariables.includes(name) && !isShown(value, path) ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(found), ...(await gitIdentity()) };
}

function isShown(command: string, searchPath: string): boolean {
  const [program = ""] = command.split(" ");
  const candidates = program.includes("/")
    ? [program]
    : searchPath.split(":").map((directory) => join(directory, program));
  const found = candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  return found !== undefined && shown.some((directory) => found.startsWith(directory));
}

/** Name and address alone: no signing keys, no credential helpers, no aliases. */
async function gitIdentity(): Promise<Record<string, string>> {
  const argv = ["git", "config", "--global", "--includes", "--null", "--get-regexp", "^user\\.(name|email)$"];
  const answer = await run(argv as [string, ...string[]], {
    timeoutMs: gitTimeoutMs,
    env: inheritedEnv(),
  }).catch(() => undefined);
  const identity: Record<string, string> = {};
  for (const entry of answer?.stdout.split("\0") ?? []) {
    const at = entry.indexOf("\n");
    const key = entry.slice(0, at);
    if (key === "user.name") identity[gitVariables.name] = entry.slice(at + 1);
    if (key === "user.email") identity[gitVariables.email] = entry.slice(at + 1);
  }
  return identity;
}
