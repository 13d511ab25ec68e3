/**
 * Where the links of a tree lead. Pure, and as the least careful file system reads names: a link to `Docs/X` leads to
 * `docs/x`. A name is looked up part by part, as a kernel does it, so links to links and links above a target count.
 */
import { foldPath } from "./fold-path.ts";

export interface TreeLink {
  readonly path: string;
  /** Undefined when it could not be read. */
  readonly target: string | undefined;
  /** It is not as it was before: what is reached through it is new there. */
  readonly isChanged: boolean;
}

/** One name for the content of another path, such as `.vscode` for `docs/x`. */
export interface LinkRoute {
  readonly path: string;
  /** The folded path it ends at; empty for the root of the tree. */
  readonly leads: string;
  /** Links on the way that have changed; none where all of it was there before. */
  readonly changed: readonly TreeLink[];
}

export interface LinkRoutes {
  readonly routes: readonly LinkRoute[];
  /** Changed links whose end is outside of the tree, or unknown. */
  readonly lost: readonly TreeLink[];
  /** There are more than were followed. */
  readonly isCut: boolean;
}

const maxLinks = 5_000;
export const maxRoutes = 4_000;
/** As many as Linux follows for one name. */
const maxSteps = 40;

interface Resolved {
  readonly leads: string;
  readonly through: readonly TreeLink[];
}

export function linkRoutes(all: readonly TreeLink[]): LinkRoutes {
  // Changed links come first, so that a flood of other links does not crowd them out.
  const links = [...all].sort((a, b) => Number(b.isChanged) - Number(a.isChanged)).slice(0, maxLinks);
  const byKey = new Map(links.map((link) => [foldPath(link.path), link]));
  const resolved = new Map<TreeLink, Resolved>();
  for (const link of links) {
    const found = resolve(link, byKey);
    if (found) resolved.set(link, found);
  }
  const routes: (LinkRoute & { readonly chain: readonly TreeLink[] })[] = [];
  const add = (path: string, chain: readonly TreeLink[]): boolean => {
    const { leads, through } = resolved.get(chain.at(-1)!)!;
    const isDone = routes.length >= maxRoutes;
    const changed = [...new Set([...chain, ...through])].filter(({ isChanged }) => isChanged);
    if (!isDone) routes.push({ path, leads, changed, chain });
    return !isDone;
  };
  const lost = links.filter((link) => link.isChanged && !resolved.has(link));
  let isCut = all.length > maxLinks;
  for (const link of resolved.keys()) isCut = !add(link.path, [link]) || isCut;
  for (let at = 0; at < routes.length; at += 1) {
    const { path, leads, chain } = routes[at]!;
    for (const [next] of resolved) {
      const rest = restBelow(next.path, leads);
      // A link that is met again leads to where the way has been already.
      if (rest === undefined || rest === "" || chain.includes(next)) continue;
      if (!add(`${path}/${rest}`, [...chain, next])) return { routes, lost, isCut: true };
    }
  }
  return { routes, lost, isCut };
}

/** The part of a path below a folded directory, as it is spelled; undefined when it is not below. */
export function restBelow(path: string, foldedDir: string): string | undefined {
  if (foldedDir === "") return path;
  const folded = foldPath(path);
  if (folded === foldedDir) return "";
  if (!folded.startsWith(`${foldedDir}/`)) return undefined;
  return path.split("/").slice(foldedDir.split("/").length).join("/");
}

/** Undefined when it leaves the tree, goes round, or means another thing on another system. */
function resolve(link: TreeLink, byKey: ReadonlyMap<string, TreeLink>): Resolved | undefined {
  const at: string[] = foldPath(link.path).split("/").slice(0, -1);
  const through: TreeLink[] = [];
  const pending: string[] = [];
  const follow = ({ target }: TreeLink): boolean => {
    if (target === undefined || target === "" || /^(?:[/\\~]|[a-z]:)|[\\\0]/i.test(target)) return false;
    pending.unshift(...target.split("/"));
    return true;
  };
  if (!follow(link)) return undefined;
  for (let part = pending.shift(); part !== undefined; part = pending.shift()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (at.pop() === undefined) return undefined;
      continue;
    }
    at.push(foldPath(part));
    const next = byKey.get(at.join("/"));
    if (next === undefined) continue;
    at.pop();
    through.push(next);
    if (through.length > maxSteps || !follow(next)) return undefined;
  }
  return { leads: at.join("/"), through };
}
