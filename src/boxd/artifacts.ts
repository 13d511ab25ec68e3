import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { boxPaths } from "../contract/box-paths.ts";
import type { Artifact, BoxdConfig } from "../contract/link/messages.ts";
import { boxEnv } from "./box-config.ts";
import { homeBins } from "./home-programs.ts";

/** Paths that the host promises to be in this box and that are missing. Looks only: no program is run to find out. */
export function findMissing(config: BoxdConfig): string[] {
  return (config.artifacts ?? []).filter((artifact) => !isThere(artifact, config)).map(({ path }) => path);
}

function isThere({ path, kind, searchPath }: Artifact, config: BoxdConfig): boolean {
  if (isAbsolute(path)) return isOfKind(path, kind);
  const { PATH = "" } = boxEnv(config, searchPath === undefined ? {} : { PATH: searchPath });
  const directories = PATH.split(":").filter((directory) => directory !== "");
  // The box's own files may be made later; only parts of its system are promised.
  return directories.some((directory) => isOwnDirectory(directory) || isOfKind(join(directory, path), kind));
}

/** A relative directory in a PATH is one of the workspace. Those of every PATH were not named for this program. */
const isOwnDirectory = (directory: string): boolean =>
  !isAbsolute(directory) || (!homeBins.includes(directory) && isBelowOwn(directory));

const isBelowOwn = (directory: string): boolean =>
  [boxPaths.workspace, boxPaths.home].some((own) => directory === own || directory.startsWith(`${own}/`));

function isOfKind(path: string, kind: Artifact["kind"]): boolean {
  try {
    const stats = statSync(path);
    if (kind === "directory") return stats.isDirectory();
    if (!stats.isFile()) return false;
    accessSync(path, kind === "program" ? constants.X_OK : constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
