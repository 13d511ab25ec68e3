/** The dangers of what differs between two states: of the changes themselves, and of what links make of them. */
import type { Change, FileMode } from "../../contract/review/change.ts";
import type { Danger } from "../../contract/review/danger.ts";
import type { ReviewReader } from "../../ports/review.ts";
import type { Using } from "../using.ts";
import { dangerList } from "./danger/danger-list.ts";
import { findDangers } from "./danger/find-dangers.ts";
import { InstalledDirectories } from "./danger/installed-directories.ts";
import { linkedDangers } from "./danger/linked-changes.ts";

/** Where contents are read from, and which tree the changes end in. */
export interface JudgedState {
  readonly repository: Pick<ReviewReader, "blob" | "paths" | "entries">;
  readonly to: string;
}

/** Contents are read as far as a rule needs them, and bounded; a file that is larger is judged by its path. */
const maxContentBytes = 1 << 20;
const zeros = /^0+$/;

export async function judgeChanges(
  core: Using<"secretScan">,
  { repository, to }: JudgedState,
  changes: readonly Change[],
  /** All that differs, where `changes` is a part of it: links are judged by the whole. */
  all: readonly Change[] = changes,
): Promise<readonly Danger[]> {
  if (all.length === 0) return [];
  const read = async (id: string, mode: FileMode): Promise<string | undefined> => {
    // A submodule names a commit of another repository, which is not here.
    if (zeros.test(id) || mode === "160000") return undefined;
    const { bytes, isWhole } = await repository.blob(id, maxContentBytes);
    return isWhole ? new TextDecoder().decode(bytes) : undefined;
  };
  const input = {
    changes,
    oldContent: (change: Change) => read(change.oldId, change.oldMode),
    newContent: (change: Change) => read(change.newId, change.newMode),
  };
  const installed = await InstalledDirectories.find(changes, () => repository.paths(to));
  const dangers = await findDangers({
    ...input,
    installed,
    scan: (text, path) => core.ports.secretScan.scan(text, path),
    paths: () => repository.paths(to),
  });
  const linked = await linkedDangers({
    ...input,
    changes: all,
    entries: () => repository.entries(to),
    isFolded: installed.folds,
  });
  return linked.length === 0 ? dangers : dangerList([...dangers, ...withoutKnown(linked, dangers)]);
}

/** Those whose kind is not said of the same path already. */
export function withoutKnown(more: readonly Danger[], dangers: readonly Danger[]): readonly Danger[] {
  const key = ({ kind, path }: Danger): string => `${kind} ${path}`;
  const known = new Set(dangers.map(key));
  return more.filter((danger) => !known.has(key(danger)));
}
