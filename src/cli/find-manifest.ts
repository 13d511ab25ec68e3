import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../base/errors.ts";
import { pathKind } from "../host/files.ts";

export const manifestName = "agentbox.toml";

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
    return await readFile(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
    throw new AgentBoxError("file.failed", `${file} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
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
