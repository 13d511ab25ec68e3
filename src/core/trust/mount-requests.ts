/** The mounts of all layers with the host paths they mean. Pure: the caller resolves symbolic links. */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { EnvFiles } from "../manifest/read-env-files.ts";
import type { MountSpec } from "../../contract/box.ts";
import type { Devcontainer } from "../../manifest/devcontainer/devcontainer.ts";
import { type ManifestLayer, type Origin, layerManifest } from "../../manifest/index.ts";
import type { PresetHosts } from "../../contract/network/preset.ts";
import { forbiddenMountSource, normalizePath } from "../../contract/mount-paths.ts";

export interface ManifestInputs {
  /** Lowest first; the defaults are added below them. */
  readonly layers: readonly ManifestLayer[];
  /** Real path of the directory the work is about; absent for a box without a project. */
  readonly projectDir?: string | undefined;
  readonly userHome: string;
  readonly agentboxHome?: string | undefined;
  /** The rules of the layers' network presets; without them, presets are named without their hosts. */
  readonly presets?: ReadonlyMap<string, PresetHosts> | undefined;
  /** Text of the project's `.mcp.json`, if it has one. */
  readonly mcpJson?: string | undefined;
  /** The project's devcontainer.json, if the box is to have what it says. */
  readonly devcontainer?: Devcontainer | undefined;
  /** The project's files of variables that its box gets. */
  readonly envFiles?: EnvFiles | undefined;
  /** The runtime that was chosen for the layers; the one they name unless given. */
  readonly runtime?: string | undefined;
  /** Resolves symbolic links of the paths that `listMountSources` returns; the identity unless given. */
  readonly realPath?: ((path: string) => string) | undefined;
}

export interface MountRequest {
  readonly mount: MountSpec;
  readonly origin: Origin;
}

/** Absolute host paths of all mounts and of the agent's skills, links not yet resolved. */
export function listMountSources(inputs: ManifestInputs): string[] {
  const { mounts, values, origins } = layerManifest(inputs.layers);
  const sources = mounts.map(({ mount, origin }) => absoluteSource(mount.source, origin, inputs));
  const { skills } = values.agent ?? {};
  if (skills === undefined) return sources;
  return [...sources, absoluteSource(skills, origins.get("agent.skills")!, inputs)];
}

/** The directory of skills that the box sees, by its real path. Throws `mount.invalid` as for a mount. */
export function resolveSkills(inputs: ManifestInputs): { source: string; origin: Origin } | undefined {
  const { values, origins } = layerManifest(inputs.layers);
  const { skills } = values.agent ?? {};
  if (skills === undefined) return undefined;
  const origin = origins.get("agent.skills")!;
  return { source: shownSource(skills, origin, inputs), origin };
}

/** All mounts, by target. Throws `mount.invalid` for a source no box may see. */
export function resolveMounts(inputs: ManifestInputs): MountRequest[] {
  const { mounts } = layerManifest(inputs.layers);
  const requests = mounts.map(({ mount, origin }) => {
    const source = shownSource(mount.source, origin, inputs);
    return {
      mount: { source, target: normalizePath(mount.target), readOnly: mount.access !== "write" },
      origin,
    };
  });
  return requests.sort((a, b) => (a.mount.target < b.mount.target ? -1 : 1));
}

function shownSource(text: string, origin: Origin, inputs: ManifestInputs): string {
  const path = absoluteSource(text, origin, inputs);
  const source = inputs.realPath?.(path) ?? path;
  // SECURITY: checked after links are resolved, because a repository can hold a link to anywhere.
  const reason = forbiddenMountSource(source, inputs);
  if (reason === undefined) return source;
  throw new AgentBoxError("mount.invalid", `${printable(source)} cannot be shown to a box: ${reason}.`, {
    hint: "Mount only the directory that the work needs.",
    facts: { source: printable(source) },
  });
}

function absoluteSource(source: string, origin: Origin, { userHome, projectDir }: ManifestInputs): string {
  if (source.startsWith("/")) return normalizePath(source);
  if (source === "~" || source.startsWith("~/")) return normalizePath(`${userHome}/${source.slice(1)}`);
  const fileDir = origin.file?.startsWith("/")
    ? origin.file.slice(0, origin.file.lastIndexOf("/") + 1)
    : undefined;
  const base = fileDir ?? projectDir;
  if (base === undefined) {
    throw new AgentBoxError(
      "mount.invalid",
      `The path "${printable(source)}" is relative, and there is no project.`,
      {
        hint: "Write an absolute path.",
      },
    );
  }
  return normalizePath(`${base}/${source}`);
}
