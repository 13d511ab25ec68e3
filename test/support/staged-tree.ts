import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repository } from "./source-files.ts";

/** The built program as it stands in the repository. */
export const builtTree = (): string => {
  if (!existsSync(join(repository, "dist/main.js"))) throw new Error("There is no build. Run: npm run build");
  return repository;
};

/** The packages that the bundle does not contain, with all they need in turn. */
function nativePackages(): readonly string[] {
  const lock = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dependencies?: object; optionalDependencies?: object }>;
  };
  const found = new Set<string>();
  const add = (name: string) => {
    if (found.has(name) || !existsSync(join(repository, "node_modules", name))) return;
    found.add(name);
    const entry = lock.packages[`node_modules/${name}`];
    for (const next of Object.keys({ ...entry?.dependencies, ...entry?.optionalDependencies })) add(next);
  };
  for (const name of ["libsql", "dockerode"]) add(name);
  return [...found];
}

/** Given by the global set-up; outside of vitest, made here and removed when the process ends. */
function runDirectory(): string {
  const given = process.env["AGENTBOX_TEST_RUN"];
  if (given) return given;
  const directory = mkdtempSync(join(tmpdir(), "abx-run-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  process.env["AGENTBOX_TEST_RUN"] = directory;
  return directory;
}

/**
 * A copy of the build that any user may read, made once per run: the checkout may lie in a directory that only its
 * owner can enter.
 */
export function stagedTree(): string {
  const directory = runDirectory();
  const tree = join(directory, "tree");
  if (existsSync(tree)) return tree;
  const unfinished = mkdtempSync(join(directory, "unfinished-"));
  for (const name of [
    "bin",
    "dist",
    "package.json",
    ...nativePackages().map((one) => `node_modules/${one}`),
  ]) {
    cpSync(join(builtTree(), name), join(unfinished, name), { recursive: true });
  }
  chmodSync(directory, 0o755);
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, tree);
  return tree;
}
