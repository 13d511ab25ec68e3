/**
 * The parts of the host that the driver needs, as one argument: tests give it another host, and there is no module
 * state.
 */
import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export type ProgramName = "bwrap" | "setpriv" | "prlimit" | "sh" | "systemd-run";

/** Which file a program is now; undefined where it is not installed. An update changes it, also in the same place. */
export type ProgramVersion = { readonly path: string; readonly file: string } | undefined;

export interface BubblewrapHost {
  readonly uid: number;
  /** Node's name of the processor, which decides the seccomp program. */
  readonly architecture: string;
  readonly spawn: typeof spawn;
  /** Absolute path of a program, if it is installed. */
  findProgram(name: ProgramName): string | undefined;
  programVersion(name: ProgramName): ProgramVersion;
  /** The text of a file below /proc/sys, if there is one. */
  readSwitch(name: string): Promise<string | undefined>;
}

// SECURITY: fixed paths, not $PATH. A root daemon must not start a `bwrap` that another user put in front.
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

function programVersion(name: ProgramName): ProgramVersion {
  const path = findProgram(name);
  const found = path === undefined ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  if (path === undefined || found === undefined) return undefined;
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return { path, file: [dev, ino, size, mtimeNs, ctimeNs].join(":") };
}

export const systemHost = (): BubblewrapHost => ({
  uid: process.getuid?.() ?? -1,
  architecture: process.arch,
  spawn,
  findProgram,
  programVersion,
  readSwitch: (name) =>
    readFile(join("/proc/sys", name), "utf8").then(
      (text) => text.trim(),
      () => undefined,
    ),
});
