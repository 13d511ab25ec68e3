/**
 * Links, judged as what they become. SECURITY: a link in the place of `.vscode` is one harmless change of a path that
 * no rule knows, and editors read all that lies behind it. So each file that can be reached through a link is judged
 * under the link's name too: all of them where the link is new, the changed ones where it was there before.
 */
import type { Change, FileMode } from "../../../contract/review/change.ts";
import type { Danger, DangerKind } from "../../../contract/review/danger.ts";
import type { ReviewEntry } from "../../../ports/review.ts";
import { type DangerInput, endingOf, findDangers } from "./find-dangers.ts";
import { isDataDirectory } from "./inert/directories.ts";
import { TreeFacts } from "./inert/tree-facts.ts";
import { type LinkRoute, type TreeLink, linkRoutes, restBelow } from "./link-routes.ts";
import { foldPath } from "./fold-path.ts";
import { counted, quoted } from "./sentence.ts";

export interface LinkedInput extends Pick<DangerInput, "changes" | "oldContent" | "newContent"> {
  /** All of the tree after the changes; gone through at most twice. */
  readonly entries: () => AsyncIterable<ReviewEntry>;
  /** Whether a danger under a name is asked about with the directory that it is in. */
  readonly isFolded?: ((kind: DangerKind, path: string) => boolean) | undefined;
}

/** Another name for a file, and the change that gives it this name. */
interface Alias {
  readonly change: Change;
  /** The same under its own name; absent where it has none. */
  readonly own?: Change;
  /** The path that the danger is shown at, and the words before it. */
  readonly path: string;
  readonly how: string;
  /** A kind that says nothing about it. */
  readonly without?: DangerKind;
}

const maxAliases = 20_000;
const maxPerPath = 5;
const aliasesAtOnce = 16;
const zeros = "0".repeat(40);

/** Kinds that are about contents and modes: what they say is said at the file's own name. */
const ofContents: ReadonlySet<DangerKind> = new Set([
  "secret",
  "hidden_text",
  "large_binary",
  "path_trick",
  "symlink",
  "submodule",
  "code_directive",
  "unreadable",
  "executable",
]);

/** Those of them that depend on the name under which the contents are read. */
const ofOneName: ReadonlySet<DangerKind> = new Set(["hidden_text", "code_directive", "unreadable"]);

export async function linkedDangers(input: LinkedInput): Promise<readonly Danger[]> {
  const { changes, isFolded = () => false } = input;
  const named = changes.filter(({ kind, newMode }) => kind !== "deleted" && isFileOrLink(newMode));
  const { links, facts } = await readTree(input);
  if (links.length === 0 && named.length === 0) return [];
  const found = linkRoutes(links);
  const aliases = aliasesOfChanges(changes, found.routes);
  const behind = await aliasesOfNew(input, found.routes, maxAliases - aliases.length);
  const full = new Set(behind.aliases.map(({ path }) => path));
  const away = new Set(found.lost.map(({ path }) => path));
  const atTheirPaths = named.flatMap((change) => atItsPath(change, full.has(change.path)));
  const judged = await judge({ ...input, facts }, [
    ...aliases.slice(0, maxAliases),
    ...behind.aliases,
    ...atTheirPaths,
  ]);
  const isCut = behind.isCut || found.isCut || aliases.length > maxAliases;
  return [
    ...judged,
    ...behind.dangers,
    ...found.lost.filter(({ path }) => !isFolded("symlink", path)).map(leadsAway),
    ...named
      .filter(({ path, newMode }) => newMode === "120000" && !full.has(path) && !away.has(path))
      .filter(({ path }) => !isFolded("symlink", path))
      .map(leadsToNothing),
    ...(isCut ? [unfollowed(links, changes)] : []),
  ];
}

const leadsAway = ({ path, target }: TreeLink): Danger => ({
  kind: "symlink",
  path,
  why: `Link to ${quoted(target ?? "")}: other links decide where it ends, which can be outside the repository.`,
});

/** SECURITY: a file that Git ignores, such as one with keys, would be served or packed under the link's name. */
const leadsToNothing = ({ path }: Change): Danger => ({
  kind: "symlink",
  path,
  why: "The link leads to what is not in the repository: it is whatever lies there on each machine, also what Git ignores.",
});

const isFileOrLink = (mode: FileMode): boolean => mode === "120000" || mode === "160000";

async function readTree({
  changes,
  entries,
  newContent,
}: LinkedInput): Promise<{ readonly links: readonly TreeLink[]; readonly facts: TreeFacts }> {
  const facts = new TreeFacts(changes);
  const changed = new Set(
    changes.filter(({ kind, newMode }) => kind !== "deleted" && newMode === "120000").map(({ path }) => path),
  );
  const links: TreeLink[] = [];
  for await (const { path, mode, id } of entries()) {
    facts.see(path);
    if (mode !== "120000") continue;
    const target = await newContent(entryChange(path, mode, id)).catch(() => undefined);
    links.push({ path, target, isChanged: changed.has(path) });
  }
  return { links, facts };
}

/** A file of the tree as if it were new, with nothing of its own to be searched. */
const entryChange = (path: string, newMode: FileMode, id: string): Change => ({
  path,
  kind: "added",
  oldMode: "000000",
  newMode,
  oldId: id,
  newId: id,
  isBinary: false,
  added: 0,
  deleted: 0,
  bytes: 0,
});

/** Changed files below what a link leads to. */
function aliasesOfChanges(changes: readonly Change[], routes: readonly LinkRoute[]): Alias[] {
  const old = byPath(routes.filter(({ changed }) => changed.length === 0));
  if (old.size === 0) return [];
  const aliases: Alias[] = [];
  for (const change of changes) {
    for (const { route, rest } of routesTo(change.path, old)) {
      if (aliases.length > maxAliases) return aliases;
      const path = rest === "" ? route.path : `${route.path}/${rest}`;
      const { oldPath: _, ...plain } = change;
      aliases.push({
        change: { ...plain, path, kind: change.kind === "renamed" ? "added" : change.kind },
        own: change,
        path: change.path,
        how: `Through a link it is also ${quoted(path)}`,
      });
    }
  }
  return aliases;
}

/** Everything behind what is new, changed or not. */
async function aliasesOfNew(
  { entries }: LinkedInput,
  routes: readonly LinkRoute[],
  room: number,
): Promise<{ aliases: Alias[]; dangers: Danger[]; isCut: boolean }> {
  const found = { aliases: [] as Alias[], dangers: [] as Danger[], isCut: false };
  const fresh = routes.filter(({ changed }) => changed.length > 0);
  if (fresh.length === 0) return found;
  const routesByPath = byPath(fresh);
  for await (const { path, mode, id } of entries()) {
    if (mode === "160000") found.dangers.push(...intoSubmodule(path, fresh));
    for (const { route, rest } of routesTo(path, routesByPath)) {
      if (found.aliases.length >= room) return { ...found, isCut: true };
      const name = rest === "" ? route.path : `${route.path}/${rest}`;
      const own = entryChange(path, mode, id);
      const how = `The link makes ${quoted(path)} also ${quoted(name)}`;
      const change = { ...own, path: name, ...(isReadOtherwise(path, name) ? { oldId: zeros } : {}) };
      found.aliases.push({ change, own, path: route.changed[0]!.path, how });
    }
  }
  return found;
}

const intoSubmodule = (submodule: string, routes: readonly LinkRoute[]): Danger[] =>
  routes
    .filter(({ leads }) => leads.startsWith(`${foldPath(submodule)}/`) || leads === foldPath(submodule))
    .map(({ path, changed }) => ({
      kind: "symlink",
      path: changed[0]!.path,
      why: `${quoted(path)} leads into the submodule ${quoted(submodule)}, whose files are not in this review.`,
    }));

function byPath(routes: readonly LinkRoute[]): ReadonlyMap<string, readonly LinkRoute[]> {
  const found = new Map<string, LinkRoute[]>();
  for (const route of routes) found.set(route.leads, [...(found.get(route.leads) ?? []), route]);
  return found;
}

/** Each route that ends at a path or above it. */
function* routesTo(
  path: string,
  routesByPath: ReadonlyMap<string, readonly LinkRoute[]>,
): Generator<{ readonly route: LinkRoute; readonly rest: string }> {
  const folded = foldPath(path);
  const above = [folded, ""];
  for (let at = folded.indexOf("/"); at !== -1; at = folded.indexOf("/", at + 1))
    above.push(folded.slice(0, at));
  for (const parent of above) {
    for (const route of routesByPath.get(parent) ?? []) {
      const rest = restBelow(path, parent);
      if (rest !== undefined) yield { route, rest };
    }
  }
}

/**
 * A link or a submodule in the place of a directory, also one without a target yet: it may come later. A link is also
 * the file that a system without links makes of it, with the target as its text.
 */
function atItsPath({ path, newMode, newId }: Change, leadsSomewhere: boolean): Alias[] {
  const what = newMode === "160000" ? "Another repository" : "A link";
  const below = entryChange(`${path}/readme.md`, "100644", zeros);
  const how = `${what} in the place of a directory`;
  const asDirectory: Alias = { change: below, path, how };
  if (newMode === "160000") return [asDirectory];
  const text = entryChange(path, "100644", newId);
  const asText: Alias = {
    change: text,
    path,
    how: "Where links are written as files, the target is its text",
    // The name of a file in the tree does not make it a settings file of an unknown kind.
    ...(leadsSomewhere ? { without: "unfamiliar" } : {}),
  };
  return [asDirectory, asText];
}

/** A text that becomes source, or data that becomes code: other rules look into it under the other name. */
const isReadOtherwise = (path: string, name: string): boolean =>
  endingOf(path) !== endingOf(name) || isAmongData(path) !== isAmongData(name);

const isAmongData = (path: string): boolean => foldPath(path).split("/").slice(0, -1).some(isDataDirectory);

interface Judging extends LinkedInput {
  readonly facts: TreeFacts;
}

async function judge(input: Judging, aliases: readonly Alias[]): Promise<readonly Danger[]> {
  const found = new Map<string, Danger[]>();
  for (let at = 0; at < aliases.length; at += aliasesAtOnce) {
    for (const danger of await judgeSome(input, aliases.slice(at, at + aliasesAtOnce))) {
      const key = `${danger.kind} ${danger.path}`;
      const same = found.get(key);
      if (same === undefined) found.set(key, [danger]);
      else if (same.every(({ why }) => why !== danger.why)) same.push(danger);
    }
  }
  return [...found.values()].flatMap((same) => [...same.slice(0, maxPerPath), ...moreOf(same)]);
}

const moreOf = ([first, ...others]: readonly Danger[]): Danger[] => {
  const left = others.length + 1 - maxPerPath;
  if (first === undefined || left <= 0) return [];
  const { kind, path } = first;
  return [{ kind, path, why: `The same for ${counted(left, "more file")} behind links.` }];
};

/** SECURITY: few at a time, so that no list of dangers is cut, and a flood of known ones hides no other. */
async function judgeSome(input: Judging, aliases: readonly Alias[]): Promise<readonly Danger[]> {
  const dangersOf = async (changes: readonly Change[]): Promise<ReadonlyMap<string, readonly Danger[]>> =>
    groupBy(await findDangers({ ...input, changes, scan: async () => [], paths: noPaths }));
  const byName = await dangersOf(aliases.map(({ change }) => change));
  const byOwnName = await dangersOf(aliases.flatMap(({ own }) => (own ? [own] : [])));
  return aliases.flatMap(({ change, own, path, how, without }) => {
    const known = new Set((own ? (byOwnName.get(own.path) ?? []) : []).map(({ kind }) => kind));
    const isOther = own !== undefined && isReadOtherwise(own.path, change.path);
    const isSaid = (kind: DangerKind): boolean =>
      ofContents.has(kind) && !(isOther && ofOneName.has(kind)) ? true : known.has(kind) || kind === without;
    return (
      (byName.get(change.path) ?? [])
        // SECURITY: by the name that the link gives it: a link from elsewhere into such a directory is on the list.
        .filter(({ kind }) => !isSaid(kind) && input.isFolded?.(kind, change.path) !== true)
        .map(({ kind, why }) => ({ kind, path, why: `${how}. ${why}` }))
    );
  });
}

async function* noPaths(): AsyncGenerator<string, void> {}

function groupBy(dangers: readonly Danger[]): ReadonlyMap<string, readonly Danger[]> {
  const groups = new Map<string, Danger[]>();
  for (const danger of dangers) {
    const group = groups.get(danger.path);
    if (group) group.push(danger);
    else groups.set(danger.path, [danger]);
  }
  return groups;
}

/** SECURITY: what was not followed is said, because silence would read as "nothing found". */
const unfollowed = (links: readonly TreeLink[], changes: readonly Change[]): Danger => ({
  kind: "symlink",
  path: links.find(({ isChanged }) => isChanged)?.path ?? changes[0]!.path,
  why: "There are more links, or more files behind links, than can be judged: what the others become is unknown.",
});
