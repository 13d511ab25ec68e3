import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The nearest directory above with the lock file: this code also runs bundled, from a cache below node_modules. */
function findRepository(directory: string): string {
  return existsSync(join(directory, "package-lock.json")) ? directory : findRepository(dirname(directory));
}

export const repository = findRepository(dirname(fileURLToPath(import.meta.url)));

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Every TypeScript file below a folder of the repository, those with markup in them too. */
export function readSources(folder: string): readonly SourceFile[] {
  return readdirSync(join(repository, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(repository, join(entry.parentPath, entry.name)))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(repository, path), "utf8") }));
}

/** The files that git keeps or would keep: tracked files, and new ones that are not ignored. */
export function listRepositoryFiles(): readonly string[] {
  const git = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const names = execFileSync("git", git, { cwd: repository, encoding: "utf8" }).split("\0");
  return [...new Set(names.filter((name) => name !== ""))].sort();
}
