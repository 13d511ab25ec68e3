/** The paths in which two trees, an index and the files differ; every name byte for byte. */
import type { ScratchRepository } from "./scratch-repository.ts";

export interface ChangedPath {
  readonly path: string;
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldId: string;
  readonly newId: string;
  readonly status: string;
}

export const isThere = (mode: string): boolean => mode !== "000000";
export const isSubmodule = (mode: string): boolean => mode === "160000";

export interface IndexView {
  readonly indexFile: string;
  readonly top: string;
}

const raw = ["-z", "--raw", "--no-abbrev", "--no-renames"];

/** Submodules are compared by their commit alone: looking into one would be with its own config in force. */
const inView = ({ indexFile, top }: IndexView) => ({
  env: { GIT_INDEX_FILE: indexFile, GIT_WORK_TREE: top },
  cwd: top,
});

export const changesBetween = async (
  scratch: ScratchRepository,
  from: string,
  to: string,
): Promise<readonly ChangedPath[]> => parseRaw(await scratch.ok(["diff-tree", "-r", ...raw, from, to]));

export async function stagedAgainst(
  scratch: ScratchRepository,
  view: IndexView,
  tree: string,
): Promise<readonly ChangedPath[]> {
  return parseRaw(
    await scratch.ok(
      ["diff-index", "--cached", ...raw, "--ignore-submodules=none", tree, "--"],
      inView(view),
    ),
  );
}

/** The index of the view is refreshed first, so it must be a copy. */
export async function unstaged(scratch: ScratchRepository, view: IndexView): Promise<readonly ChangedPath[]> {
  await scratch.git(["update-index", "-q", "--refresh"], inView(view));
  return parseRaw(await scratch.ok(["diff-files", ...raw, "--ignore-submodules=dirty"], inView(view)));
}

function parseRaw(output: string): readonly ChangedPath[] {
  const fields = output.split("\0");
  const changes: ChangedPath[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode, newMode, oldId, newId, status] = fields[i]!.slice(1).split(" ");
    changes.push({
      path: fields[i + 1]!,
      oldMode: oldMode!,
      newMode: newMode!,
      oldId: oldId!,
      newId: newId!,
      status: status!,
    });
  }
  return changes;
}

/** Every directory above a path, the nearest last. */
export function parentsOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("/"));
}
