/** What the driver needs of the host, as one argument: tests give it another host, and nothing is module state. */
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export type ProgramName = "bwrap" | "setpriv" | "prlimit" | "sh" | "systemd-run";

export interface BubblewrapHost {
  readonly uid: number;
  /** Node's name of the processor, which decides the seccomp program. */
  readonly architecture: string;
  readonly spawn: typeof spawn;
  /** Absolute path of a program, if it is installed. */
  findProgram(name: ProgramName): string | undefined;
  /** The text of a file below /proc/sys, if there is one. */
  readSwitch(name: string): Promise<string | undefined>;
}

// SECURITY: fixed places, not $PATH. A root daemon must not start a `bwrap` that somebody put in front.
const programDirs = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];

function findProgram(name: ProgramName): string | undefined {
  return programDirs
    .map((directory) => join(directory, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

export const systemHost = (): BubblewrapHost => ({
  uid: process.getuid?.() ?? -1,
  architecture: process.arch,
  spawn,
  findProgram,
  readSwitch: (name) =>
    readFile(join("/proc/sys", name), "utf8").then(
      (text) => text.trim(),
      () => undefined,
    ),
});
