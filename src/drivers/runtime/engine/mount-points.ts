/**
 * The places in a box's home and workspace that something is mounted at, made in the name of the box's user. An engine
 * would make them as its own root, and then neither the box nor the daemon of a rootless engine could remove them.
 */
import { closeSync, constants, fchownSync, mkdirSync, openSync, statSync } from "node:fs";
import { AgentBoxError, messageOf, systemCode } from "../../../base/errors.ts";
import { type BoxOwner, boxPaths, type MountSpec } from "../../../contract/box.ts";
import { isWithin } from "../../../contract/mount-paths.ts";
import type { EngineFacts } from "../../../host/engine/facts.ts";
import type { RuntimeBox } from "../../../ports/runtime.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * SECURITY: Podman writes each mount down as fields between commas and reads that again. A path with a comma, a quote or
 * the end of a line in it would say something else: another target, or a mount that can be written.
 */
export function refuseUnspeakable({ kind }: Pick<EngineFacts, "kind">, box: RuntimeBox): void {
  if (kind !== "podman") return;
  const own = { source: box.dirs.workspace, target: boxPaths.workspace };
  for (const { source, target } of [own, ...box.mounts])
    if (/[,"\r\n]/.test(source + target))
      throw new AgentBoxError("mount.invalid", `Podman cannot mount ${JSON.stringify(source)} → ${target}.`, {
        hint: "Use a path without commas, quotes and line ends, or another runtime.",
        facts: { source, target },
      });
}

/** The mounts are checked. Existing entries stay as they are. */
export function makeMountPoints({
  dirs,
  mounts,
  owner,
}: Pick<RuntimeBox, "dirs" | "mounts" | "owner">): void {
  const directories = [
    [boxPaths.home, dirs.home],
    [boxPaths.workspace, dirs.workspace],
  ] as const;
  for (const mount of mounts)
    for (const [inBox, onHost] of directories)
      if (isWithin(mount.target, inBox)) makePoint(mount, onHost, inBox, owner);
}

/**
 * SECURITY: from descriptor to descriptor, and through no link. A box that shares a mounted directory may rename in it
 * meanwhile; with paths, root would give it the target of its link.
 */
function makePoint(mount: MountSpec, onHost: string, inBox: string, owner: BoxOwner): void {
  const parts = mount.target.slice(inBox.length + 1).split("/");
  const isFile = !statSync(mount.source).isDirectory();
  let directory = openSync(onHost, O_RDONLY | O_DIRECTORY);
  try {
    for (const [at, part] of parts.entries()) {
      const path = `/proc/self/fd/${directory}/${part}`;
      if (isFile && at === parts.length - 1) return makeFile(path, owner);
      const next = openDirectory(path, owner);
      closeSync(directory);
      directory = next;
    }
  } catch (error) {
    throw new AgentBoxError("mount.invalid", `${mount.target} cannot be mounted at: ${messageOf(error)}.`, {
      hint: "Choose another target in [[mounts]], or remove what is in its way.",
      facts: { source: mount.source, target: mount.target },
      cause: error,
    });
  } finally {
    closeSync(directory);
  }
}

function openDirectory(path: string, owner: BoxOwner): number {
  const isNew = unlessThere(() => mkdirSync(path, { mode: 0o755 }));
  const directory = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (isNew) fchownSync(directory, owner.uid, owner.gid);
  return directory;
}

function makeFile(path: string, owner: BoxOwner): void {
  unlessThere(() => {
    const file = openSync(path, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
    fchownSync(file, owner.uid, owner.gid);
    closeSync(file);
  });
}

/** Whether it was made now. */
function unlessThere(make: () => unknown): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}
