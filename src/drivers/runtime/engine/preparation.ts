/** Everything on the host that a container of a box needs before it is made; each part can be made again. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { AgentBoxError } from "../../../base/errors.ts";
import type { EngineFacts } from "../../../host/engine/facts.ts";
import type { RuntimeBox, ShownDirectory } from "../../../ports/runtime.ts";
import { etcFiles } from "../etc-files.ts";
import type { Guard } from "../guard.ts";
import { HostEtc } from "../host-etc.ts";
import type { OwnerMaps } from "../owner-maps.ts";
import { checkBesideGuard } from "../mounts.ts";
import { checkToolchains } from "../toolchain-mounts.ts";
import { mountSystemFiles, type SystemFile } from "../system-files.ts";
import { readSystemLayout, type SystemLayout } from "../system-layout.ts";
import { userInside } from "./container-config.ts";
import { makeMountPoints, refuseUnspeakable } from "./mount-points.ts";
import { seccompProfile } from "./seccomp-profile.ts";

export interface Prepared {
  readonly box: RuntimeBox;
  readonly layout: SystemLayout;
  readonly files: readonly SystemFile[];
  readonly shown: readonly ShownDirectory[];
  readonly masks: readonly SystemFile[];
  readonly guardedNames: readonly string[];
  readonly ownGit?: string | undefined;
  readonly seccomp: string;
}

const prefix = "engine.";

export async function prepare(
  box: RuntimeBox,
  facts: EngineFacts,
  {
    guard,
    owners,
    boxesDir,
  }: { readonly guard: Guard; readonly owners: OwnerMaps; readonly boxesDir: string },
): Promise<Prepared> {
  // An image has a system of its own: nothing of the host's is shown.
  const layout =
    box.image === undefined
      ? readSystemLayout(await new HostEtc(boxesDir).stage())
      : { entries: [], maskedFiles: [] };
  const trust = await mountSystemFiles(box.files ?? [], layout);
  await mkdir(box.dirs.runtime, { recursive: true, mode: 0o700 });
  const guarded = await guard.raise(box);
  if (guarded !== undefined) checkBesideGuard(box.mounts, guarded);
  refuseUnspeakable(facts, box);
  // An image has its own.
  const toolchains = box.image === undefined ? (box.toolchains ?? []) : [];
  const { directories, masks } = await checkToolchains(toolchains, { boxesDir, boxd: box.tools.boxd });
  makeMountPoints(box);
  return {
    box: await owners.raise(
      guarded === undefined ? box : { ...box, dirs: { ...box.dirs, workspace: guarded.workspace } },
    ),
    layout,
    shown: directories,
    masks,
    files: [...trust, ...writeEtc(box, facts)],
    guardedNames: guarded?.names ?? [],
    ownGit: guarded?.ownGit,
    seccomp: await seccompOption(box, facts),
  };
}

/**
 * Read through a mount of each file, so the directory itself may stay closed to the box. Synchronous, because a few
 * small files are written sooner than the thread pool is asked for each.
 */
function writeEtc(box: RuntimeBox, facts: EngineFacts): readonly SystemFile[] {
  const directory = join(box.dirs.runtime, `${prefix}etc`);
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const machineId = randomBytes(16).toString("hex");
  const files = etcFiles({ name: box.name, machineId, user: userInside(facts, box.owner), git: box.git });
  return files.map(({ path, content }) => {
    const source = join(directory, basename(path));
    writeFileSync(source, content);
    // Said apart, because the daemon's umask would keep the box's own user out.
    chmodSync(source, 0o644);
    return { source, target: path };
  });
}

/** Docker takes the profile itself, Podman the path of a file. */
async function seccompOption(box: RuntimeBox, facts: EngineFacts): Promise<string> {
  const profile = seccompProfile(process.arch);
  if (profile === undefined)
    throw new AgentBoxError(
      "runtime.unsupported",
      `There is no seccomp profile for ${process.arch} processors.`,
      {
        hint: "Use another runtime on this machine.",
      },
    );
  const text = JSON.stringify(profile);
  if (facts.kind === "docker") return text;
  const path = join(box.dirs.runtime, `${prefix}seccomp.json`);
  await writeFile(path, text, { mode: 0o644 });
  return path;
}

/** After the container is gone: no file of ours is left. */
export async function removePreparations(runtimeDir: string): Promise<void> {
  const names = await readdir(runtimeDir).catch(() => []);
  for (const name of names.filter((file) => file.startsWith(prefix)))
    await rm(join(runtimeDir, name), { recursive: true, force: true });
}
