/** Host files and directories as entries of one layer, at their places in the box. Links are kept, never followed. */
import { posix } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { type TreeItem, readTree } from "../../host/tree-reader.ts";
import type { TarItem } from "./tar.ts";

export interface TargetedTree {
  /** File or directory of the host. */
  readonly source: string;
  /** Absolute path in the box. */
  readonly target: string;
}

/** The tree, preceded by the directories that lead to it. */
export async function* treeItems({ source, target }: TargetedTree): AsyncGenerator<TarItem> {
  yield* parentsOf(target);
  const items = readTree(source);
  try {
    yield* itemsOf(items, { source, target });
  } finally {
    // A reader that stops half-way leaves no directory open.
    await items.return(undefined);
  }
}

async function* itemsOf(
  items: AsyncGenerator<TreeItem>,
  { source, target }: TargetedTree,
): AsyncGenerator<TarItem> {
  let next = await items.next();
  while (!next.done) {
    const item = next.value;
    if (item.type === "skipped") throw unreadable(source, item.skipped);
    if (item.type === "data") {
      next = await items.next();
      continue;
    }
    const { entry } = item;
    const path = `${target.slice(1)}${entry.path.slice(firstLength(entry.path))}`;
    if (entry.kind === "file") {
      const isProgram = (entry.mode & 0o111) !== 0;
      const content = dataOf(items, (after) => (next = after));
      yield { kind: "file", path, isProgram, bytes: entry.size, content };
      continue;
    }
    yield entry.kind === "dir"
      ? { kind: "dir", path }
      : { kind: "link", path, target: insideLink(path, target, entry.target!) };
    next = await items.next();
  }
}

/** The chunks that follow a file's entry; what comes after them is handed back. */
async function* dataOf(
  items: AsyncGenerator<TreeItem>,
  hand: (next: IteratorResult<TreeItem>) => void,
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const next = await items.next();
    if (next.done || next.value.type !== "data") {
      hand(next);
      return;
    }
    yield next.value.chunk;
  }
}

function* parentsOf(target: string): Generator<TarItem> {
  const names = target.split("/").slice(1, -1);
  for (const index of names.keys()) yield { kind: "dir", path: names.slice(0, index + 1).join("/") };
}

/** The first name of a path is the root of the tree. */
const firstLength = (path: string): number => {
  const slash = path.indexOf("/");
  return slash === -1 ? path.length : slash;
};

/** SECURITY: in the image a link that leaves its tree would show a file of the box. */
function insideLink(path: string, root: string, target: string): string {
  const led = posix.join(posix.dirname(`/${path}`), target);
  if (!target.startsWith("/") && (led === root || led.startsWith(`${root}/`))) return target;
  throw new AgentBoxError("image.invalid", `/${path} is a link that leads out of its directory.`, {
    hint: "Put the file itself there, or remove the link.",
    facts: { path: `/${path}` },
  });
}

const unreadable = (source: string, { path, reason }: { path: string; reason: string }): AgentBoxError =>
  new AgentBoxError("image.build_failed", `${source} cannot be put into an image: ${path}: ${reason}.`, {
    hint: "Remove it, or make it readable.",
    facts: { path },
  });
