import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./program.ts";

/** An ordinary user for tests that run as root; boxes never use this uid themselves. */
export const ordinaryUser = { uid: 1000, gid: 1000 } as const;

export const isRoot = process.getuid?.() === 0;

export const hasProgram = (name: string): boolean =>
  `${process.env["PATH"]}:/usr/sbin:/sbin`.split(":").some((directory) => {
    try {
      accessSync(join(directory, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** argv that runs another argv as this user, with no groups and no way back. */
export const asUserArgv = (user: { uid: number; gid: number }): readonly string[] => [
  "setpriv",
  `--reuid=${user.uid}`,
  `--regid=${user.gid}`,
  "--clear-groups",
  "--no-new-privs",
  "--",
];

/** Why bubblewrap boxes cannot run here, or undefined when they can. For `ctx.skip(reason)`. */
export async function whyNoBubblewrap(user?: { uid: number; gid: number }): Promise<string | undefined> {
  if (!hasProgram("bwrap")) return "bubblewrap is not installed";
  if (user && isRoot && !hasProgram("setpriv")) return "setpriv is not installed";
  const prefix = user && isRoot ? asUserArgv(user) : [];
  const probe = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"];
  const { code, stderr } = await runProgram([...prefix, ...probe]);
  return code === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim()}`;
}

/** The process's environment as it was started, or empty when it is gone or not ours to read. */
export function readEnviron(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

export const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

export const whyNoSshClient = (): string | undefined =>
  hasProgram("ssh-agent") && hasProgram("ssh-keygen") ? undefined : "openssh-client is not installed";
