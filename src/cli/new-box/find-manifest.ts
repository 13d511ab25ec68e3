import { dirname, join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import type { HostEnv } from "../../host/env.ts";
import { pathKind } from "../../host/files.ts";
import { homePaths } from "../../host/home.ts";
import { OrderFiles, type OrderTrust } from "../../host/ownership.ts";

export const manifestName = "agentbox.toml";
const maxManifestBytes = 2 ** 20;

/** Who looks for it, and where their own config is. */
export type ManifestReader = Pick<HostEnv, "userHome" | "agentboxHome" | "uid" | "gid" | "sudoUid">;

export interface FoundManifest {
  readonly file: string;
  readonly text: string;
  /** The directory it lies in: the project. */
  readonly dir: string;
}

/**
 * The manifest of this directory or the nearest one above. The search ends at the root of the repository and at
 * the home directory: what lies above belongs to something else.
 */
export async function findManifest(cwd: string, env: ManifestReader): Promise<FoundManifest | undefined> {
  for (let dir = cwd; ; dir = dirname(dir)) {
    const text = await readManifest(join(dir, manifestName), env);
    if (text !== undefined) return { file: join(dir, manifestName), text, dir };
    const isEnd =
      dir === env.userHome || dirname(dir) === dir || (await pathKind(join(dir, ".git"))) !== undefined;
    if (isEnd) return undefined;
  }
}

/**
 * SECURITY: a repository, a box that works in the directory itself, or another user above it decides what is there.
 * A manifest that cannot be read is an error: the command does not go on without one.
 */
const readManifest = (file: string, env: ManifestReader): Promise<string | undefined> =>
  new OrderFiles(env, () => readTrust(env)).read(file, { maxBytes: maxManifestBytes, followsLinks: true });

/** A file that cannot be read trusts nothing here; the daemon reads it again and reports the problem. */
async function readTrust(env: ManifestReader): Promise<OrderTrust> {
  const { config: file } = homePaths(env.agentboxHome);
  const text = await new OrderFiles(env).read(file, { maxBytes: maxManifestBytes, followsLinks: true });
  const { parseUserConfig } = await import("../../manifest/index.ts");
  const { config } = text === undefined ? {} : parseUserConfig(text, { file });
  return { file, directories: config?.trust?.directories ?? [] };
}

/** The file that was named, or the one that is found. */
export async function getManifest(cwd: string, env: ManifestReader, file?: string): Promise<FoundManifest> {
  if (file !== undefined) {
    const text = await readManifest(file, env);
    if (text !== undefined) return { file, text, dir: dirname(file) };
    throw new AgentBoxError("manifest.not_found", `There is no file ${file}.`, {
      hint: "Make one with: agentbox init",
    });
  }
  const found = await findManifest(cwd, env);
  if (found) return found;
  throw new AgentBoxError("manifest.not_found", `There is no ${manifestName} in ${cwd} or above.`, {
    hint: "Make one with: agentbox init",
  });
}
