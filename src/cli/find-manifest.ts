import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentBoxError, isAgentBoxError, messageOf, systemCode } from "../base/errors.ts";
import { pathKind } from "../host/files.ts";

export const manifestName = "agentbox.toml";
const maxManifestBytes = 2 ** 20;

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
export async function findManifest(cwd: string, userHome: string): Promise<FoundManifest | undefined> {
  for (let dir = cwd; ; dir = dirname(dir)) {
    const text = await readManifest(join(dir, manifestName));
    if (text !== undefined) return { file: join(dir, manifestName), text, dir };
    const isEnd =
      dir === userHome || dirname(dir) === dir || (await pathKind(join(dir, ".git"))) !== undefined;
    if (isEnd) return undefined;
  }
}

async function readManifest(file: string): Promise<string | undefined> {
  try {
    return await readPlain(file);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
    if (isAgentBoxError(error)) throw error;
    throw new AgentBoxError("file.failed", `${file} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}

/**
 * SECURITY: a repository, or a box that works in the directory itself, decides what is there. A pipe would be waited for
 * without end, and a device never ends. What is there and cannot be read is no reason to go on without a manifest.
 */
async function readPlain(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stat = await file.stat();
  if (stat.isFile() && stat.size <= maxManifestBytes) return await file.readFile("utf8");
  const problem = stat.isFile() ? "it is larger than 1 MiB" : "it is no ordinary file";
  throw new AgentBoxError("file.failed", `${path} cannot be read: ${problem}.`);
}

/** The file that was named, or the one that is found. */
export async function getManifest(cwd: string, userHome: string, file?: string): Promise<FoundManifest> {
  if (file !== undefined) {
    const text = await readManifest(file);
    if (text !== undefined) return { file, text, dir: dirname(file) };
    throw new AgentBoxError("manifest.not_found", `There is no file ${file}.`, {
      hint: "Make one with: agentbox init",
    });
  }
  const found = await findManifest(cwd, userHome);
  if (found) return found;
  throw new AgentBoxError("manifest.not_found", `There is no ${manifestName} in ${cwd} or above.`, {
    hint: "Make one with: agentbox init",
  });
}
