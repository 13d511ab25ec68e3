/**
 * Files of ours in place of the system's own, such as the certificates to trust. Each covers exactly one file
 * that a box has or could have; everything stays read-only, and nothing on the host is written.
 */
import { lstat, realpath, stat } from "node:fs/promises";
import { AgentBoxError } from "../../base/errors.ts";
import { isWithin } from "../../contract/mount-paths.ts";
import type { SystemLayout } from "./system-layout.ts";

export interface SystemFile {
  readonly source: string;
  readonly target: string;
}

/** SECURITY: only where certificates are looked for; a file anywhere else could be a program or an account. */
const allowedTargets = [
  "/etc/ssl",
  "/etc/pki",
  "/etc/ca-certificates",
  "/usr/local/share/ca-certificates",
] as const;

const isPlainPath = (path: string): boolean =>
  !path.includes("\0") &&
  path
    .split("/")
    .slice(1)
    .every((part) => part !== "" && part !== "." && part !== "..");

/** Why no file can stand there; undefined when one can. Pure. */
export function systemTargetProblem(target: string): string | undefined {
  if (!target.startsWith("/") || !isPlainPath(target)) return "that is not a plain absolute path";
  if (!allowedTargets.some((path) => target !== path && isWithin(target, path)))
    return "that is not a place for certificates";
  return undefined;
}

const invalid = ({ source, target }: SystemFile, problem: string): AgentBoxError =>
  new AgentBoxError("mount.invalid", `The file ${source} cannot stand at ${target}: ${problem}.`, {
    facts: { source, target },
  });

/**
 * The files with their real sources and targets. A target in a system directory that has no such file is left out:
 * it could only be made by writing to the host, and no program of this system looks there.
 */
export async function mountSystemFiles(
  files: readonly SystemFile[],
  layout: SystemLayout,
): Promise<readonly SystemFile[]> {
  const found = await Promise.all(files.map((file) => mountFile(file, layout)));
  const byTarget = new Map(found.flatMap((file) => (file === undefined ? [] : [[file.target, file]])));
  return [...byTarget.values()];
}

async function mountFile(file: SystemFile, layout: SystemLayout): Promise<SystemFile | undefined> {
  const problem = systemTargetProblem(file.target);
  if (problem !== undefined) throw invalid(file, problem);
  const source = await realpath(file.source).catch(() => undefined);
  const kind = source === undefined ? undefined : await stat(source);
  if (source === undefined || !kind?.isFile()) throw invalid(file, "its source is not a file");
  const target = await findTarget(file.target, layout);
  return target === undefined ? undefined : { source, target };
}

/**
 * SECURITY: a link in the host's directory would lead bubblewrap away from the place that was checked, so the place
 * it leads to is checked as well, and is the one that is covered.
 */
async function findTarget(target: string, layout: SystemLayout): Promise<string | undefined> {
  const binding = layout.entries.find(
    (entry) => isWithin(target, entry.path) || isWithin(entry.path, target),
  );
  // In no directory of the host's: bubblewrap makes it in the box's own /etc.
  if (binding === undefined) return target;
  if (!isWithin(target, binding.path)) return undefined;
  if (!(await hasLinkBelow(binding.path, target))) return (await isFile(target)) ? target : undefined;
  const real = await realpath(target).catch(() => undefined);
  if (real === undefined || systemTargetProblem(real) !== undefined) return undefined;
  const isBound = layout.entries.some(({ kind, path }) => kind === "bind" && isWithin(real, path));
  return isBound && (await isFile(real)) ? real : undefined;
}

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false;

/** The directory itself may be a link on the host: in the box it is what was bound there. */
async function hasLinkBelow(directory: string, target: string): Promise<boolean> {
  let path = directory;
  for (const part of target.slice(directory.length).split("/").filter(Boolean)) {
    path = `${path}/${part}`;
    if ((await lstat(path).catch(() => undefined))?.isSymbolicLink()) return true;
  }
  return false;
}
