/**
 * Checks the mounts a box asks for. A mount that passes is a file or directory that exists, leads to no kernel
 * interface, socket or other box of the host, and hides nothing of the box's own.
 */
import { lstat, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { boxPaths, type MountSpec } from "../../contract/box.ts";
import { hostControlDirs, isWithin, systemDirs } from "../../contract/mount-paths.ts";
import type { BoxDirs } from "../../ports/runtime.ts";
import type { Guarded } from "./guard.ts";

/** No mount at, below or above these. */
const reservedTargets = [...systemDirs, boxPaths.tools, boxPaths.run, boxPaths.secrets];
/** No mount at or above these; below them is allowed. */
const ownTargets = [boxPaths.home, boxPaths.workspace, "/tmp", "/var/tmp"];

/** Why a target cannot be used; undefined when it can. Pure. */
export function targetProblem(target: string): string | undefined {
  if (!target.startsWith("/")) return "is not absolute";
  if (target.includes("\0")) return "contains a NUL character";
  const parts = target.slice(1).split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "is not a plain path";
  const reserved = reservedTargets.find((path) => isWithin(target, path) || isWithin(path, target));
  if (reserved !== undefined) return `would cover ${reserved}`;
  const own = ownTargets.find((path) => isWithin(path, target));
  return own === undefined ? undefined : `would cover ${own}`;
}

/** Why a resolved source cannot be used; undefined when it can. Pure. */
export function sourceProblem(source: string, boxesDir: string): string | undefined {
  if (source === "/") return "is the host's whole file system";
  const forbidden = hostControlDirs.find((path) => isWithin(source, path) || isWithin(path, source));
  if (forbidden !== undefined) return `would show the box the host's ${forbidden}`;
  if (isWithin(source, boxesDir) || isWithin(boxesDir, source))
    return "would show the box the files of other boxes";
  return undefined;
}

const invalid = (mount: MountSpec, problem: string, hint?: string): AgentBoxError =>
  new AgentBoxError(
    "mount.invalid",
    `The mount ${mount.source} → ${mount.target} cannot be made: ${problem}.`,
    {
      hint: hint ?? "Choose another source or target in [[mounts]].",
      facts: { source: mount.source, target: mount.target },
    },
  );

/** Every source must be a real path already, so that what was agreed to and checked is what is mounted. */
export async function checkMounts(
  mounts: readonly MountSpec[],
  { boxesDir, dirs }: { readonly boxesDir: string; readonly dirs: BoxDirs },
): Promise<readonly MountSpec[]> {
  const realBoxesDir = await realpath(boxesDir);
  const checked: MountSpec[] = [];
  for (const mount of mounts) {
    const problem = targetProblem(mount.target);
    if (problem !== undefined) throw invalid(mount, `the target ${problem}`);
    const other = checked.find(
      ({ target }) => isWithin(mount.target, target) || isWithin(target, mount.target),
    );
    if (other !== undefined) throw invalid(mount, `the target overlaps with the mount at ${other.target}`);
    await checkPlantedLinks(mount, dirs);
    checked.push({ ...mount, source: await checkSource(mount, realBoxesDir) });
  }
  return checked;
}

/**
 * SECURITY: skills of the project may lie where the box can write (a mounted workspace). A link that it put in their
 * place would show it, at its next start, any file of the host.
 */
export async function checkSkills(skills: string | undefined, boxesDir: string): Promise<void> {
  if (skills === undefined) return;
  const mount = { source: skills, target: boxPaths.skills, readOnly: true };
  await checkSource(mount, await realpath(boxesDir));
}

/**
 * SECURITY: another mount of the same directory would be a second way to the names that are guarded in the workspace.
 */
export function checkBesideGuard(mounts: readonly MountSpec[], { workspace, names }: Guarded): void {
  for (const mount of mounts) {
    const overlaps = isWithin(mount.source, workspace) || isWithin(workspace, mount.source);
    if (overlaps && !mount.readOnly)
      throw invalid(mount, "the workspace is that directory, or holds it, or is in it");
    const covered = names.find((name) => isWithin(mount.target, `${boxPaths.workspace}/${name}`));
    if (covered !== undefined) throw invalid(mount, `${covered} in the workspace stays as it is`);
  }
}

async function checkSource(mount: MountSpec, boxesDir: string): Promise<string> {
  if (!mount.source.startsWith("/") || mount.source.includes("\0"))
    throw invalid(mount, "the source is not absolute");
  const source = await realpath(mount.source).catch(() => undefined);
  if (source === undefined)
    throw invalid(mount, "the source does not exist", `Create ${mount.source} first.`);
  // SECURITY: a person agreed to a real path. A link there now was put in its place later, perhaps by the box itself in
  // a directory it may write, and leads to files that no one has seen.
  if (source !== mount.source) throw invalid(mount, `the source now leads to ${source}`);
  const problem = sourceProblem(source, boxesDir);
  if (problem !== undefined) throw invalid(mount, `the source ${problem}`);
  const kind = await stat(source);
  // SECURITY: a unix socket is a door to its server (docker.sock is root on the host), and a read-only mount does not
  // close it. Devices and pipes have no place in a box either.
  if (!kind.isFile() && !kind.isDirectory())
    throw invalid(mount, "the source is neither a file nor a directory");
  return source;
}

/**
 * SECURITY: the box owns its home and workspace, and may have left a link where the next start makes a mount point.
 * bubblewrap would follow it out of the box's root. No process of the box lives while this looks.
 */
async function checkPlantedLinks(mount: MountSpec, dirs: BoxDirs): Promise<void> {
  for (const [inBox, onHost] of [
    [boxPaths.home, dirs.home],
    [boxPaths.workspace, dirs.workspace],
  ] as const) {
    if (!isWithin(mount.target, inBox)) continue;
    let path = onHost;
    for (const part of mount.target.slice(inBox.length + 1).split("/")) {
      path = join(path, part);
      const found = await lstat(path).catch(() => undefined);
      if (found === undefined) break;
      if (found.isSymbolicLink()) throw invalid(mount, `${part} in the target is a symbolic link`);
    }
  }
}
