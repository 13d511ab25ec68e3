import { type Danger, DangerKind } from "../../../contract/review/danger.ts";
import { counted } from "./sentence.ts";

export const maxDangers = 1_000;

/** The first ones take effect with the least done by a person. */
const order: readonly DangerKind[] = [
  "path_trick",
  "symlink",
  "hook",
  "shell_rc",
  "editor_task",
  "agent_settings",
  "manifest",
  "git_settings",
  "submodule",
  "ci",
  "package_script",
  "lockfile_source",
  "dependency",
  "build_file",
  "container_file",
  "executable",
  "hidden_text",
  "code_directive",
  "unreadable",
  "unfamiliar",
  "installed",
  "secret",
  "large_binary",
  "commit",
];

const rank = new Map([...order, ...DangerKind.options].map((kind) => [kind, order.indexOf(kind)]));

const compare = (a: Danger, b: Danger): number =>
  rank.get(a.kind)! - rank.get(b.kind)! ||
  (a.path < b.path ? -1 : a.path > b.path ? 1 : (a.line ?? 0) - (b.line ?? 0));

/**
 * In order, at most `maxDangers`; the rest is one more sentence.
 * SECURITY: merging asks for consent by kind, so a flood of one kind must not push another off the list: the worst of
 * each kind stays.
 */
export function dangerList(found: readonly Danger[]): Danger[] {
  const sorted = [...found].sort(compare);
  if (sorted.length <= maxDangers) return sorted;
  const firsts = new Set(new Map(sorted.toReversed().map((one) => [one.kind, one])).values());
  const others = sorted.filter((one) => !firsts.has(one));
  const kept = [...firsts, ...others.slice(0, maxDangers - 1 - firsts.size)].sort(compare);
  const rest = others.slice(maxDangers - 1 - firsts.size);
  const counts = new Map<DangerKind, number>();
  for (const { kind } of rest) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const kinds = [...counts].map(([kind, count]) => `${count} × ${kind}`).join(", ");
  const why = `${counted(rest.length, "more danger")} that this list has no room for: ${kinds}. Look at the whole diff.`;
  return [...kept, { kind: rest[0]!.kind, path: rest[0]!.path, why }];
}
