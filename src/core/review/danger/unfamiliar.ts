import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import { hasChecksums } from "./content/changed-checksums.ts";
import { foldPath } from "./fold-path.ts";
import type { TreeFacts } from "./inert/tree-facts.ts";
import { unfamiliarPath } from "./inert/unfamiliar-path.ts";
import { hasGitSettings } from "./git-settings.ts";
import { namesSources } from "./lockfile-sources.ts";
import { hasScripts } from "./package-scripts.ts";
import { pathRules } from "./rules/index.ts";

/**
 * Files whose name no rule knows and that are not known to do nothing by themselves. SECURITY: a list of dangerous
 * names is never complete, so a file passes because it is known to be harmless, not because it is missing in a list.
 */
export function unfamiliar(change: Change, facts: TreeFacts): Danger[] {
  const { path, kind, newMode, oldMode } = change;
  const mode = kind === "deleted" ? oldMode : newMode;
  // Links, submodules and programs have rules of their own, which look at every one of them.
  if (mode === "120000" || mode === "160000" || (newMode === "100755" && kind !== "deleted")) return [];
  if (pathRules.find(foldPath(path)).length > 0 || hasGitSettings(path)) return [];
  const reason = isPackageList(path) ? packageListReason(change) : unfamiliarPath(change, facts);
  if (reason === undefined) return [];
  return [{ kind: "unfamiliar", path, why: `${words[kind]} file that may run or be obeyed: ${reason}.` }];
}

/** Rules of their own look into every change of these, so only that they come and go is left to say. */
const isPackageList = (path: string): boolean => hasScripts(path) || namesSources(path) || hasChecksums(path);

function packageListReason({ kind, path, oldPath }: Change): string | undefined {
  const isNew = kind === "added" || kind === "copied" || kind === "type_changed";
  // SECURITY: one that lay among the data of tests is obeyed where it is moved to.
  const isMoved = kind === "renamed" && oldPath !== undefined && foldPath(oldPath) !== foldPath(path);
  if (isNew || isMoved) return "package managers take from it what is installed and run";
  return kind === "deleted" ? "it said what package managers install, and which versions" : undefined;
}

const words: Readonly<Record<Change["kind"], string>> = {
  added: "New",
  copied: "New",
  modified: "Changed",
  type_changed: "Changed",
  renamed: "Moved",
  deleted: "Removed",
};
