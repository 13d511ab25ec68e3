import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import type { Change, ChangeTotals } from "../../contract/review/change.ts";
import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import type { LandingProposal } from "../../contract/review/proposal.ts";
import type { Review } from "../../contract/review/review.ts";
import type { ReviewRepository } from "../../ports/review.ts";
import type { LinkParts, ReviewParts, Using } from "../using.ts";
import { dangerList } from "./danger/danger-list.ts";
import { judgeChanges } from "./judge-changes.ts";
import { type JudgedLanding, digestOf, judgeLanding } from "./judge-landing.ts";
import { messageFor, plainOnly } from "./landing-message.ts";
import { baseOf, checkpointsOf, resolveCheckpoint, reviewOf, upstreamOf } from "./review-of.ts";
import { summarise } from "./summarise.ts";
import { takeCheckpoint } from "./take-checkpoint.ts";

export interface ReviewQuery {
  /** `base`, a number or a name; base by default. */
  readonly from?: string | undefined;
  /** Without it: the newest state. */
  readonly to?: string | undefined;
  /** Another box, in place of `from`. */
  readonly against?: string | undefined;
}

export interface ReviewSubject {
  readonly box: Box;
  readonly repository: ReviewRepository;
  readonly from: string;
  readonly to: string;
  readonly checkpoint?: Checkpoint | undefined;
}

/** Whether the newest state is taken from the box first; otherwise it is the one that was kept last. */
export interface Taking {
  readonly takes: boolean;
  /** The same for the other box of a comparison of two, on which the caller may have another role. */
  readonly takesOther?: boolean | undefined;
}

/** The two states that are compared, as they were kept. The box is neither asked nor started. */
export async function compareKept(
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  { from = "base", to = "latest" }: ReviewQuery,
): Promise<ReviewSubject> {
  const box = await core.getBox(name);
  const repository = await reviewOf(core, box);
  const old = await resolveCheckpoint(core, box, repository, from);
  const now = await resolveCheckpoint(core, box, repository, to);
  return { box, repository, from: old.commit, to: now.commit, checkpoint: now.checkpoint };
}

/** The same with a checkpoint of the box as it is now, unless an older one is asked for. A stopped box is started for it. */
export async function checkpointAndCompare(
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  query: ReviewQuery,
): Promise<ReviewSubject> {
  const { state } = await core.getBox(name);
  // A paused box cannot be asked; what it had last is what there is to see.
  if (query.to === undefined && state.phase !== "paused")
    await takeCheckpoint(core, name, { reason: "review" });
  return compareKept(core, name, query);
}

/** The work of one box compared with that of another. */
async function compareBoxes(
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  against: string,
  { takes, takesOther = takes }: Taking,
): Promise<ReviewSubject & AsyncDisposable> {
  const subject = await (takes ? checkpointAndCompare : compareKept)(core, name, {});
  const other = await (takesOther ? checkpointAndCompare : compareKept)(core, against, {});
  const repository = await core.ports.reviews.between(subject.repository.gitDir, other.repository.gitDir);
  return {
    ...subject,
    repository,
    from: other.to,
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  };
}

/** The compared states, for as long as a reader needs them. */
export async function openSubject(
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  query: ReviewQuery,
  taking: Taking,
): Promise<ReviewSubject & AsyncDisposable> {
  if (query.against !== undefined) return compareBoxes(core, name, query.against, taking);
  const subject = await (taking.takes ? checkpointAndCompare : compareKept)(core, name, query);
  return { ...subject, [Symbol.asyncDispose]: async () => undefined };
}

export const readReview = async (
  core: Using<ReviewParts>,
  name: string,
  query: ReviewQuery,
  taking: Taking,
): Promise<Review> => (await lookAt(core, name, query, taking)).review;

/** The review that a person is shown, and the commit it was judged against. */
export interface Looked {
  readonly review: Review;
  readonly landing: JudgedLanding;
}

/** A part, or what another box has not, is not what lands. */
const landsNowhere: JudgedLanding = { dangers: [], history: [], target: undefined, person: undefined };

export async function lookAt(
  core: Using<ReviewParts>,
  name: string,
  query: ReviewQuery,
  taking: Taking,
): Promise<Looked> {
  await using subject = await openSubject(core, name, query, taking);
  const { box, checkpoint } = subject;
  const changes = await subject.repository.changes(subject.from, subject.to);
  const { store } = core.ports;
  const of = { incarnation: box.incarnation };
  const [own, comments, checks, summary] = await Promise.all([
    judgeChanges(core, subject, changes),
    store.listReview("comment", of),
    store.listReview("check", of),
    summarise(core, box),
  ]);
  const isWhole = query.against === undefined && (query.from ?? "base") === "base" && changes.length > 0;
  const { repository, to } = subject;
  const landing = isWhole
    ? await judgeLanding(core, { box, repository, to, head: checkpoint?.head, changes, dangers: own })
    : landsNowhere;
  const review: Review = {
    box: name,
    agent: [box.spec.agent.name, box.spec.agent.version].filter(Boolean).join(" "),
    from: query.against ?? query.from ?? "base",
    ...omitUndefined({ checkpoint }),
    totals: totalsOf(changes),
    dangers: landing.dangers.length === 0 ? [...own] : dangerList([...own, ...landing.dangers]),
    history: [...landing.history],
    changes: [...changes],
    comments: [...comments],
    checks: checks.filter(({ tree }) => tree === checkpoint?.tree),
    requiredChecks: box.spec.checks.map((check) => check.name),
    summary,
    digest: digestOf(
      checkpoint?.commit ?? to,
      landing.dangers,
      await upstreamOf(core, box, subject.repository),
    ),
    ...omitUndefined({ proposal: await proposalOf(core, subject, landing) }),
  };
  return { review, landing };
}

async function proposalOf(
  core: Using<"store">,
  { box, repository, checkpoint }: ReviewSubject,
  { tip }: JudgedLanding,
): Promise<LandingProposal | undefined> {
  if (tip === undefined) return undefined;
  const base = await baseOf(core, box, repository);
  const commits = await repository.commits(base, checkpoint?.head ?? base);
  const { branch, remoteBranch } = tip;
  return { message: messageFor(box, plainOnly(commits)), ...omitUndefined({ branch, remoteBranch }) };
}

const totalsOf = (changes: readonly Change[]): ChangeTotals => ({
  files: changes.length,
  added: changes.reduce((sum, { added }) => sum + added, 0),
  deleted: changes.reduce((sum, { deleted }) => sum + deleted, 0),
});

export const listCheckpoints = async (
  core: Using<"getBox" | "store">,
  name: string,
): Promise<readonly Checkpoint[]> => checkpointsOf(core, await core.getBox(name));
