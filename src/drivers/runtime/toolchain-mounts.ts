/**
 * Directories of toolchains as a box sees them: read-only, each where the host has it, and without the files in which
 * credentials are kept beside programs.
 */
import { readFile, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { boxPaths } from "../../contract/box.ts";
import { isWithin } from "../../contract/mount-paths.ts";
import type { ShownDirectory } from "../../ports/runtime.ts";
import { sourceProblem, targetProblem } from "./mounts.ts";
import type { SystemFile } from "./system-files.ts";

export interface ToolchainMounts {
  readonly directories: readonly ShownDirectory[];
  /** Files that stand in the place of those that hold credentials. */
  readonly masks: readonly SystemFile[];
}

/** SECURITY: where installers write tokens and passwords of registries, relative to a toolchain or an environment in it. */
const credentialFiles = [
  "pip.conf",
  "etc/pip.conf",
  "etc/npmrc",
  "etc/gemrc",
  ".npmrc",
  ".netrc",
  ".pypirc",
  "credentials",
  "credentials.toml",
  "config.toml",
  "gradle.properties",
  "lib/node_modules/npm/npmrc",
  "conf/settings.xml",
  "conf/settings-security.xml",
];
const environments = ["envs"];

/** `boxd` is the directory of the supervisor, which has what stands in the place of the files. */
export async function checkToolchains(
  asked: readonly ShownDirectory[],
  { boxesDir, boxd }: { readonly boxesDir: string; readonly boxd: string },
): Promise<ToolchainMounts> {
  const realBoxesDir = await realpath(boxesDir);
  const directories: ShownDirectory[] = [];
  const masks = new Map<string, SystemFile>();
  for (const directory of asked) {
    const { source, target } = directory;
    const real = await realpath(source).catch(() => undefined);
    // A toolchain that was removed since is missing in the box, too.
    if (real === undefined) continue;
    const problem =
      // SECURITY: a person agreed to a real path. A link there now was put in its place later.
      real === source
        ? (sourceProblem(source, realBoxesDir) ?? ownTargetProblem(target))
        : `it now leads to ${real}`;
    if (problem !== undefined || !(await stat(source)).isDirectory())
      throw new AgentBoxError(
        "mount.invalid",
        `The toolchain ${source} cannot be shown: ${problem ?? "it is not a directory"}.`,
        {
          hint: "Look at what is found now: agentbox toolchains",
          facts: { source, target },
        },
      );
    directories.push(directory);
    for (const path of await credentialsIn(source)) {
      const mask = path.endsWith(".xml") ? `${boxd}/masks/settings.xml` : `${boxd}/masks/empty`;
      const place = join(target, path.slice(source.length + 1));
      // SECURITY: by the place in the box. A version that is a link is seen at two, and each has the file.
      masks.set(place, { source: mask, target: place });
    }
  }
  return { directories, masks: [...masks.values()] };
}

function ownTargetProblem(target: string): string | undefined {
  const own = [boxPaths.home, boxPaths.workspace].find((path) => isWithin(target, path));
  return targetProblem(target) ?? (own === undefined ? undefined : `${own} is the box's own`);
}

/** Real paths of those that are there. One that lies elsewhere is not in the box. */
async function credentialsIn(directory: string): Promise<readonly string[]> {
  const roots = [directory];
  for (const name of environments)
    for (const entry of await readdir(join(directory, name)).catch(() => []))
      roots.push(join(directory, name, entry));
  const found: string[] = [];
  for (const root of roots)
    for (const name of credentialFiles) {
      const path = await realpath(join(root, name)).catch(() => undefined);
      if (path === undefined || !isWithin(path, directory) || !(await stat(path)).isFile()) continue;
      if (await mayHoldSecret(path)) found.push(path);
    }
  return found;
}

/** Maven's own settings come with it, and it does not work without them; a person's have passwords. */
async function mayHoldSecret(path: string): Promise<boolean> {
  if (!path.endsWith("settings.xml")) return true;
  const text = await readFile(path, "utf8").catch(() => "<password>");
  const uncommented = text.replace(/<!--[\s\S]*?-->/g, "");
  return /<(?:password|passphrase|privateKey|httpHeaders|configuration)\b/.test(uncommented);
}
