import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import { foldPath } from "./fold-path.ts";
import type { PathRule } from "./path-rule.ts";
import { pathRules } from "./rules/index.ts";
import { quoted } from "./sentence.ts";

/** Changes of files that are dangerous by name: what they are, what runs them, and that some went away. */
export function dangerousNames(change: Change): Danger[] {
  const now = pathRules.find(foldPath(change.path));
  if (change.kind === "deleted") return now.map((rule) => removed(rule, change.path));
  const isMoved = change.kind === "renamed" && change.oldPath !== undefined;
  const before = isMoved ? pathRules.find(foldPath(change.oldPath!)) : [];
  return [
    ...now.map((rule) => ({
      kind: rule.kind,
      path: change.path,
      why: `${word(change, before.includes(rule))} ${rule.what}: ${rule.effect}.`,
    })),
    ...before.filter((rule) => !now.includes(rule)).map((rule) => removed(rule, change.oldPath!)),
  ];
}

function word(change: Change, wasOneBefore: boolean): string {
  if (change.kind === "renamed" && change.oldPath !== undefined) {
    return `${wasOneBefore ? "Moved" : "New"} (from ${quoted(change.oldPath)})`;
  }
  return change.kind === "added" || change.kind === "copied" ? "New" : "Changed";
}

const removed = (rule: PathRule, path: string): Danger => ({
  kind: rule.kind,
  path,
  why: `Removed ${rule.what}: it is no longer in effect after the merge.`,
});
