/**
 * The dangers of commits that land one by one. SECURITY: content that one commit adds and the next removes is in no
 * diff of the whole, and is in the history for ever: a key, a workflow that ran once, a foreign name.
 */
import type { Change } from "../../contract/review/change.ts";
import type { CommitDangers } from "../../contract/review/history.ts";
import type { HistoryCommit, ReviewReader } from "../../ports/review.ts";
import type { Using } from "../using.ts";
import { commitWords } from "./danger/commit-message.ts";
import { judgeChanges } from "./judge-changes.ts";

export interface History {
  readonly commits: readonly HistoryCommit[];
  /** There are more than these. */
  readonly isCut: boolean;
}

const commitsAtOnce = 4;
const maxSubject = 200;

export async function judgeHistory(
  core: Using<"secretScan">,
  repository: ReviewReader,
  { commits, isCut }: History,
  { changes, person }: { readonly changes: readonly Change[]; readonly person: string | undefined },
): Promise<readonly CommitDangers[]> {
  // Content that is the same in the whole has been judged there.
  const judged = new Set(changes.map(contentOf));
  const found: CommitDangers[] = [];
  for (let at = 0; at < commits.length; at += commitsAtOnce) {
    const some = commits.slice(at, at + commitsAtOnce);
    found.push(
      ...(await Promise.all(some.map((commit) => judgeCommit(core, repository, commit, judged, person)))),
    );
  }
  const dangerous = found.filter(({ dangers }) => dangers.length > 0);
  return isCut ? [...dangerous, tooMany(commits)] : dangerous;
}

const contentOf = ({ path, newMode, newId }: Change): string => `${newMode} ${newId} ${path}`;

async function judgeCommit(
  core: Using<"secretScan">,
  repository: ReviewReader,
  commit: HistoryCommit,
  judged: ReadonlySet<string>,
  person: string | undefined,
): Promise<CommitDangers> {
  const { id, author, message } = commit;
  const all = await repository.changes(commit.from, id);
  const own = all.filter((change) => change.kind !== "deleted" && !judged.has(contentOf(change)));
  const ofFiles = await judgeChanges(core, { repository, to: id }, own);
  return {
    commit: id,
    subject: (message.split("\n")[0] ?? "").slice(0, maxSubject),
    author,
    dangers: [...commitWords(commit, person), ...ofFiles],
  };
}

const tooMany = (commits: readonly HistoryCommit[]): CommitDangers => ({
  commit: commits.at(-1)!.id,
  subject: "",
  author: "",
  dangers: [
    {
      kind: "commit",
      path: `commit ${commits.at(-1)!.id.slice(0, 12)}`,
      why: `More commits follow on these ${commits.length}, and they were not looked into. Squash them, or ask the agent to.`,
    },
  ],
});
