/** Programs that are on no registry: a copy of what a person installed, so that nothing changes under a box. */
import { constants } from "node:fs";
import { copyFile, mkdir, readdir, readlink, realpath, stat, symlink } from "node:fs/promises";
import { basename, isAbsolute, join, relative } from "node:path";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import type { InstallRecipe } from "../../contract/agent.ts";
import { interrupted } from "./installer-process.ts";
import { type Fetch, type Fetched } from "./recipe.ts";
import { type TreeEntry, readTree, staysInside } from "./tree.ts";

export type PathRecipe = Extract<InstallRecipe, { kind: "path" }>;

const maxBytes = 2 * 2 ** 30;
const maxFiles = 100_000;

/** `version` is what the person calls it; undefined: it is named by its content. */
export async function copyFromPath(
  fetch: Fetch,
  recipe: PathRecipe,
  from: string | undefined,
  version: string | undefined,
): Promise<Fetched> {
  if (from === undefined || !isAbsolute(from)) {
    throw new AgentBoxError(
      "tool.install_failed",
      `"${fetch.agent}" is on no registry; say where it is installed.`,
      {
        hint: recipe.hint,
      },
    );
  }
  fetch.onProgress(`Copying ${from}`);
  const found = await stat(from).catch((error: unknown) => {
    throw unusable(from, messageOf(error), recipe);
  });
  if (found.isDirectory()) await new Copy(fetch.signal, recipe).directory(from, fetch.tree, "");
  else if (found.isFile())
    await new Copy(fetch.signal, recipe).file(from, join(fetch.tree, recipe.bin), found.size);
  else throw unusable(from, "it is neither a file nor a directory", recipe);
  const program = await findProgram(fetch.tree, recipe.bin);
  if (program === undefined)
    throw unusable(from, `there is no executable file named "${recipe.bin}" in it`, recipe);
  return { version: version ?? "", program };
}

/** The one that lies highest; without one, what a link of this name leads to, as package managers make them. */
async function findProgram(tree: string, name: string): Promise<string | undefined> {
  const entries = await readTree(tree);
  const isExecutable = ({ kind, mode }: TreeEntry): boolean => kind === "file" && (mode & 0o111) !== 0;
  const named = entries
    .filter(({ path }) => basename(path) === name)
    .sort((a, b) => a.path.length - b.path.length);
  const file = named.find(isExecutable);
  if (file !== undefined) return file.path;
  for (const { path } of named.filter(({ kind }) => kind === "link")) {
    const target = relative(
      await realpath(tree),
      await realpath(join(tree, path)).catch(() => join(tree, path)),
    );
    if (entries.some((entry) => entry.path === target && isExecutable(entry))) return target;
  }
  return undefined;
}

class Copy {
  readonly #signal: AbortSignal;
  readonly #recipe: PathRecipe;
  #bytes = 0;
  #files = 0;

  constructor(signal: AbortSignal, recipe: PathRecipe) {
    this.#signal = signal;
    this.#recipe = recipe;
  }

  async directory(from: string, to: string, path: string): Promise<void> {
    for (const entry of await readdir(join(from, path), { withFileTypes: true })) {
      const below = path === "" ? entry.name : `${path}/${entry.name}`;
      const [source, target] = [join(from, below), join(to, below)];
      if (entry.isDirectory()) {
        await mkdir(target);
        await this.directory(from, to, below);
      } else if (entry.isFile()) await this.file(source, target, (await stat(source)).size);
      else if (entry.isSymbolicLink()) await this.link(source, target, below);
      else throw unusable(source, "it is neither a file nor a directory", this.#recipe);
    }
  }

  async file(from: string, to: string, bytes: number): Promise<void> {
    if (this.#signal.aborted) throw interrupted();
    this.#bytes += bytes;
    this.#files += 1;
    if (this.#bytes > maxBytes) throw unusable(from, "there is more than 2 GiB", this.#recipe);
    if (this.#files > maxFiles) throw unusable(from, `there are more than ${maxFiles} files`, this.#recipe);
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }

  /** SECURITY: what a link out of the tree leads to was not chosen by the person, and would be another thing in a box. */
  async link(from: string, to: string, path: string): Promise<void> {
    const target = await readlink(from);
    if (!staysInside(path, target))
      throw unusable(from, `the link leads out of it, to ${target}`, this.#recipe);
    await symlink(target, to);
  }
}

const unusable = (path: string, problem: string, { hint }: PathRecipe): AgentBoxError =>
  new AgentBoxError("tool.install_failed", `${path} cannot be taken into the tool store: ${problem}.`, {
    hint,
    facts: { path },
  });
