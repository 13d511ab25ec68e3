/**
 * How often the danger lane asks for a look at ordinary work: the newest commits of repositories, each judged as one
 * review of what it changed. `scripts/danger-false-alarms.mjs` starts it.
 */
import { KeyedMutex } from "../../src/base/mutex.ts";
import type { FileMode } from "../../src/contract/review/change.ts";
import type { Danger } from "../../src/contract/review/danger.ts";
import { findDangers } from "../../src/core/review/danger/find-dangers.ts";
import { defaultLimits } from "../../src/services/review/limits.ts";
import { ReviewGit } from "../../src/services/review/review-git.ts";
import { BareReview } from "../../src/services/review/review-repository.ts";
import { openSecretScan } from "../../src/services/secret-scan/index.ts";

const maxContentBytes = 1 << 20;

interface Look {
  readonly commit: string;
  readonly dangers: readonly Danger[];
  readonly kinds: readonly string[];
}

/** The dangers of each of the newest `count` commits that has a parent. */
export async function looksOf(gitDir: string, count: number): Promise<readonly Look[]> {
  const git = new ReviewGit(gitDir, defaultLimits);
  const scanner = openSecretScan();
  const lines = await git.text(["rev-list", "--parents", `--max-count=${count}`, "HEAD"]);
  const looks: Look[] = [];
  for (const line of lines.trim().split("\n")) {
    const [commit, parent] = line.split(" ");
    if (commit === undefined || parent === undefined) continue;
    const repository = new BareReview(git, parent, new KeyedMutex());
    const read = async (id: string, mode: FileMode): Promise<string | undefined> => {
      if (/^0+$/.test(id) || mode === "160000") return undefined;
      const { bytes, isWhole } = await repository.blob(id, maxContentBytes);
      return isWhole ? new TextDecoder().decode(bytes) : undefined;
    };
    const dangers = await findDangers({
      changes: await repository.changes(parent, commit),
      oldContent: ({ oldId, oldMode }) => read(oldId, oldMode),
      newContent: ({ newId, newMode }) => read(newId, newMode),
      scan: (text, path) => scanner.scan(text, path),
      paths: () => repository.paths(commit),
    });
    looks.push({ commit, dangers, kinds: [...new Set(dangers.map(({ kind }) => kind))] });
  }
  return looks;
}

export interface Alarms {
  readonly commits: number;
  readonly median: number;
  readonly mean: number;
  readonly p90: number;
  readonly max: number;
  /** The share of commits that need no look at all. */
  readonly none: number;
  readonly byKind: Readonly<Record<string, number>>;
}

export function summarise(looks: readonly Look[]): Alarms {
  const counts = looks.map(({ kinds }) => kinds.length).sort((a, b) => a - b);
  const at = (share: number): number => counts[Math.ceil(counts.length * share) - 1] ?? 0;
  const byKind: Record<string, number> = {};
  for (const kind of looks.flatMap(({ kinds }) => kinds)) byKind[kind] = (byKind[kind] ?? 0) + 1;
  return {
    commits: counts.length,
    median: at(0.5),
    mean: counts.reduce((sum, one) => sum + one, 0) / Math.max(1, counts.length),
    p90: at(0.9),
    max: counts.at(-1) ?? 0,
    none: counts.filter((one) => one === 0).length / Math.max(1, counts.length),
    byKind: Object.fromEntries(Object.entries(byKind).sort(([, a], [, b]) => b - a)),
  };
}
