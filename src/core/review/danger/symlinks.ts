import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import { foldPath } from "./fold-path.ts";
import { pathRules } from "./rules/index.ts";
import { quoted } from "./sentence.ts";

/** A link that points out of the tree, into Git's own directory, or at something that is dangerous itself. */
export function symlink({ path, newMode }: Change, target: string | undefined): Danger[] {
  if (newMode !== "120000") return [];
  const danger = (why: string): Danger[] => [{ kind: "symlink", path, why }];
  if (target === undefined)
    return danger("Where the link points could not be read: it may leave the repository.");
  const shown = quoted(target);
  if (/^(?:[/\\~]|[a-z]:)/i.test(target)) {
    return danger(`Link to ${shown}, outside the repository: reading or writing it reads or writes that.`);
  }
  if (target.includes("\\") || target.includes("\0")) {
    return danger(`Link to ${shown}: on Windows this names another place.`);
  }
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  // SECURITY: what ".." means after a name depends on whether that name is a link too, so a target like
  // "here/../x" cannot be judged by its text and is not taken for harmless.
  const firstName = parts.findIndex((part) => part !== "..");
  const isUnclear = firstName !== -1 && parts.slice(firstName).includes("..");
  const landed = resolve(path, parts);
  if (landed === undefined) {
    return danger(`Link to ${shown}, above the repository: reading or writing it reads or writes that.`);
  }
  if (isUnclear) return danger(`Link to ${shown}: where it ends depends on other links and can be outside.`);
  const folded = foldPath(landed.join("/"));
  if (folded.split("/").some((part) => part === ".git" || /^\.?git~\d+$/.test(part))) {
    return danger(`Link to ${shown}: it opens Git's own directory, whose hooks and settings run commands.`);
  }
  // A link to a directory stands for all in it.
  const rule = pathRules.find(folded)[0] ?? pathRules.find(`${folded}/x`)[0];
  return rule
    ? danger(`Link to ${shown} (${rule.what}): what is written through it takes effect there.`)
    : [];
}

/** From the link's directory; undefined when it climbs over the root. */
function resolve(path: string, parts: readonly string[]): string[] | undefined {
  const at = path.split("/").slice(0, -1);
  for (const part of parts) {
    if (part !== "..") at.push(part);
    else if (at.pop() === undefined) return undefined;
  }
  return at;
}
