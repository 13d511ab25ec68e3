/** The list of changed files as lines on the screen: flat, or as a tree whose folders can be closed. */
import type { Change } from "../../../../src/contract/review/change.ts";

export type TreeLine =
  | { readonly type: "folder"; readonly path: string; readonly name: string; readonly depth: number }
  | { readonly type: "file"; readonly change: Change; readonly name: string; readonly depth: number };

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: Change[];
}

export const flatLines = (changes: readonly Change[]): TreeLine[] =>
  changes.map((change) => ({ type: "file", change, name: change.path, depth: 0 }));

export function treeLines(changes: readonly Change[], closed: ReadonlySet<string>): TreeLine[] {
  const root: Folder = { folders: new Map(), files: [] };
  for (const change of changes) {
    let folder = root;
    for (const name of change.path.split("/").slice(0, -1)) {
      let next = folder.folders.get(name);
      if (next === undefined) folder.folders.set(name, (next = { folders: new Map(), files: [] }));
      folder = next;
    }
    folder.files.push(change);
  }
  const lines: TreeLine[] = [];
  // A stack of its own: a path may be four thousand folders deep.
  const open: { folder: Folder; path: string; name: string; depth: number }[] = [
    { folder: root, path: "", name: "", depth: -1 },
  ];
  while (open.length > 0) {
    const { folder, path, name, depth } = skipSingles(open.pop()!);
    if (depth >= 0) lines.push({ type: "folder", path, name, depth });
    if (closed.has(path)) continue;
    for (const change of folder.files)
      lines.push({
        type: "file",
        change,
        name: change.path.slice(change.path.lastIndexOf("/") + 1),
        depth: depth + 1,
      });
    const below = [...folder.folders].toSorted(([a], [b]) => (a < b ? 1 : -1));
    for (const [child, inside] of below)
      open.push({
        folder: inside,
        path: path === "" ? child : `${path}/${child}`,
        name: child,
        depth: depth + 1,
      });
  }
  return lines;
}

/** A folder with nothing but another one in it is one line with it. */
function skipSingles<T extends { folder: Folder; path: string; name: string; depth: number }>(step: T): T {
  const names = [step.name];
  let { folder } = step;
  while (step.depth >= 0 && folder.files.length === 0 && folder.folders.size === 1) {
    const [[name, inside]] = [...folder.folders] as [[string, Folder]];
    names.push(name);
    folder = inside;
  }
  const more = names.slice(1).join("/");
  return {
    ...step,
    folder,
    name: names.join("/"),
    path: more === "" ? step.path : `${step.path}/${more}`,
  };
}

/** Files in the order of the lines: what the diff beside the list follows. */
export const filesInOrder = (lines: readonly TreeLine[]): Change[] =>
  lines.flatMap((line) => (line.type === "file" ? [line.change] : []));
