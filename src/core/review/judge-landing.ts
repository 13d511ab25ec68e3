/**
 * The result of a landing, as far as it differs from the box: the person may have renamed a file meanwhile, and the
 * work then lands at the new name. So the tree and the commits that a merge would make are judged, and not only the
 * box's own.
 */
import { createHash } from "node:crypto";
import { messageOf } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Box } from "../../contract/box.ts";
import type { Change } from "../../contract/review/change.ts";
import type { Danger } from "../../contract/review/danger.ts";
import type { CommitDangers } from "../../contract/review/history.ts";
import type { MergePreview, MergeRequest, MergeTip } from "../../ports/merge.ts";
import type { ReviewRepository } from "../../ports/review.ts";
import type { Using } from "../using.ts";
import { judgeChanges, withoutKnown } from "./judge-changes.ts";
import { type History, judgeHistory } from "./judge-history.ts";
import { baseOf } from "./review-of.ts";

export interface LandingSubject {
  readonly box: Box;
  readonly repository: ReviewRepository;
  readonly to: string;
  readonly head: string | undefined;
  readonly changes: readonly Change[];
  readonly dangers: readonly Danger[];
  /** The commit that the work is to follow; the project's HEAD by default. */
  readonly onto?: string | undefined;
}

export interface JudgedLanding {
  /** Those that the box's own tree does not have. */
  readonly dangers: readonly Danger[];
  readonly history: readonly CommitDangers[];
  /** The commit that it was judged against; undefined without a repository or a commit. */
  readonly target: string | undefined;
  /** `Name <email>` of the person it lands for. */
  readonly person: string | undefined;
  /** The project as it is now; undefined without a repository. */
  readonly tip?: MergeTip | undefined;
}

export const projectOf = ({ projectDir, spec }: Box): string | undefined =>
  projectDir ?? spec.workspace.source;

export async function judgeLanding(
  core: Using<"merges" | "reviews" | "secretScan" | "store">,
  subject: LandingSubject,
): Promise<JudgedLanding> {
  const { box, repository, changes, to } = subject;
  const base = await baseOf(core, box, repository);
  const head = subject.head ?? base;
  const projectDir = projectOf(box);
  const tip = projectDir === undefined ? undefined : await core.ports.merges.tip(projectDir, subject.onto);
  const person = tip?.identity;
  const known = { changes, person };
  if (projectDir !== undefined && tip && tip.tree !== (await repository.treeOf(base))) {
    const request = { projectDir, reviewGitDir: repository.gitDir, base, commit: to, head };
    const judged = await judgeThere(core, subject, { request, tip });
    if (judged) return { ...judged, target: tip.head, person, tip };
  }
  const history = await judgeHistory(core, repository, await repository.history(base, head), known);
  return { dangers: [], history, target: tip?.head, person, tip };
}

/** Undefined when nothing would land. */
async function judgeThere(
  core: Using<"merges" | "reviews" | "secretScan">,
  subject: LandingSubject,
  { request, tip }: { readonly request: WorkRequest; readonly tip: MergeTip },
): Promise<Pick<JudgedLanding, "dangers" | "history"> | undefined> {
  try {
    await using preview = await previewOf(core, request, tip.head);
    return preview && (await judgePreview(core, subject, preview, tip.identity));
  } catch (error) {
    // SECURITY: said, because silence would read as "the same as in the box". A merge would meet the same and fail.
    const why = `What would land in your branch could not be judged: ${printable(messageOf(error)).slice(0, 300)}`;
    return { dangers: [{ kind: "unfamiliar", path: ".", why }], history: [] };
  }
}

type WorkRequest = Pick<MergeRequest, "projectDir" | "reviewGitDir" | "base" | "commit" | "head">;

/** With the agent's commits one by one, or as one where these do not go together with the person's. */
async function previewOf(
  core: Using<"merges">,
  request: WorkRequest,
  onto: string | undefined,
): Promise<MergePreview | undefined> {
  const whole = { ...request, message: "Preview", trailers: [] };
  return (
    (await core.ports.merges.preview({ ...whole, mode: "commits" }, onto)) ??
    (await core.ports.merges.preview({ ...whole, mode: "squash" }, onto))
  );
}

async function judgePreview(
  core: Using<"reviews" | "secretScan">,
  { changes: own, dangers: known }: LandingSubject,
  { source, before, after, commits }: MergePreview,
  person: string | undefined,
): Promise<Pick<JudgedLanding, "dangers" | "history">> {
  const reader = core.ports.reviews.reading(source);
  const changes = await reader.changes(before, after);
  const key = (change: Change): string =>
    [
      change.kind,
      change.oldMode,
      change.newMode,
      change.oldId,
      change.newId,
      change.oldPath,
      change.path,
    ].join(" ");
  const ownKeys = new Set(own.map(key));
  const others = changes.filter((change) => !ownKeys.has(key(change)));
  const found = await judgeChanges(core, { repository: reader, to: after }, others, changes);
  const history: History = { commits, isCut: false };
  return {
    dangers: withoutKnown(found, known).map((danger) => ({
      ...danger,
      why: `As it would land in your branch: ${danger.why}`,
    })),
    history: await judgeHistory(core, reader, history, { changes: [...own, ...changes], person }),
  };
}

/**
 * Names a state: the checkpoint, what is dangerous about it in this branch alone, and the branch that it was rebased onto.
 * SECURITY: compared with another commit the same checkpoint shows another diff.
 */
export function digestOf(commit: string, dangers: readonly Danger[], upstream?: string): string {
  if (dangers.length === 0 && upstream === undefined) return commit;
  const facts = JSON.stringify(upstream === undefined ? dangers : [upstream, dangers]);
  return `${commit}+${createHash("sha256").update(facts).digest("hex").slice(0, 16)}`;
}

export const commitOf = (digest: string): string => digest.split("+", 1)[0]!;
