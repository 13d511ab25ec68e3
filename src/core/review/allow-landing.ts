/**
 * The conditions between an agent's work and any place outside its box: dangers accepted by kind, checks passed, and
 * the state exactly the one that was reviewed. Merge and push go through here, and nothing else lands work.
 */
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { Danger, DangerKind } from "../../contract/review/danger.ts";
import type { MergeConflict, MergeMode } from "../../contract/review/merge.ts";
import type { Review } from "../../contract/review/review.ts";
import type { MergeRequest } from "../../ports/merge.ts";
import type { LinkParts, ReviewParts, Using } from "../using.ts";
import { isOwnAuthor } from "./danger/commit-message.ts";
import { findLook } from "./last-look.ts";
import { type JudgedLanding, commitOf, judgeLanding, projectOf } from "./judge-landing.ts";
import { type ReviewSubject, compareKept, lookAt } from "./read-review.ts";
import { messageFor, plainOnly } from "./landing-message.ts";
import { baseOf } from "./review-of.ts";

/** A person's confirmation of what they have seen. */
export interface LookedAt {
  /** Kinds of danger that a person has looked at and accepts. */
  readonly accept: readonly DangerKind[];
  /** The reviewed state; another one is refused. SECURITY: the agent could change its work after the review. */
  readonly digest?: string | undefined;
  /**
   * The caller: without a digest, the state is the one that they were last shown, if any.
   */
  readonly who: string;
  readonly skipsChecks?: boolean | undefined;
}

export interface Landing extends LookedAt {
  /** The commit that it is to follow. Default: the project's HEAD. */
  readonly onto?: string | undefined;
  readonly mode: MergeMode;
  readonly message?: string | undefined;
}

type LandingCommand = "merge" | "pr";

/** The request for exactly the state that was judged, or the reason why it cannot land. */
export async function allowLanding(
  core: Using<ReviewParts>,
  name: string,
  command: LandingCommand,
  options: Landing,
): Promise<MergeRequest> {
  try {
    return await decideLanding(core, name, command, options);
  } catch (error) {
    if (isAgentBoxError(error) && refusals.has(error.code)) {
      const { code, facts } = error;
      const { who, mode } = options;
      const { seen, found } = facts ?? {};
      await core.note("work.refused", await core.getBox(name), { command, mode, code, who, seen, found });
    }
    throw error;
  }
}

const refusals: ReadonlySet<string> = new Set(["merge.danger", "merge.unseen", "merge.checks"]);

async function decideLanding(
  core: Using<ReviewParts>,
  name: string,
  command: LandingCommand,
  options: Landing,
): Promise<MergeRequest> {
  const { review, landing } = await lookAt(core, name, {}, { takes: true });
  if (options.digest !== undefined && options.digest !== review.digest)
    throw changedSince(name, options.digest, review.digest);
  if (review.changes.length === 0) throw unchanged(name);
  const box = await core.getBox(name);
  requireProject(box);
  const seen = options.digest ?? (await findLook(core, box, options.who))?.digest;
  if (seen === undefined) throw unseen(name, command, review);
  if (seen !== review.digest) throw changedSince(name, seen, review.digest);
  requireAccepted(name, command, dangersOf(options.mode, review), options.accept);
  if (!options.skipsChecks) requireChecks(name, review);
  const { request, subject } = await requestOf(core, name, options, landing.person);
  // SECURITY: a checkpoint of the agent's next turn may have come between the two.
  if (request.commit !== commitOf(review.digest)) throw changedSince(name, review.digest, request.commit);
  if (options.onto !== undefined) {
    const { changes, dangers } = review;
    const { box: of, repository, to, checkpoint } = subject;
    const head = checkpoint?.head;
    const there = { box: of, repository, to, head, changes, dangers, onto: options.onto };
    const found = await judgeLanding(core, there);
    requireAccepted(name, command, dangersOf(options.mode, found), options.accept);
    return request;
  }
  return { ...request, judged: { head: landing.target } };
}

/** The commits that land with a mode: single ones only where they stay single. */
const dangersOf = (mode: MergeMode, { dangers, history }: Pick<JudgedLanding, "dangers" | "history">) =>
  mode === "commits" ? [...dangers, ...history.flatMap((commit) => commit.dangers)] : dangers;

function requireAccepted(
  name: string,
  command: string,
  dangers: readonly Danger[],
  accept: readonly DangerKind[],
): void {
  const open = [...new Set(dangers.map(({ kind }) => kind))].filter((kind) => !accept.includes(kind));
  if (open.length === 0) return;
  throw new AgentBoxError(
    "merge.danger",
    `The work has dangers that are not accepted yet: ${open.join(", ")}.`,
    {
      hint: `Look at them (agentbox diff ${name}), then: agentbox ${command} ${name} ${open.map((kind) => `--accept-danger ${kind}`).join(" ")}`,
      facts: { dangers: dangers.filter(({ kind }) => open.includes(kind)).slice(0, 100) },
    },
  );
}

function requireChecks(name: string, { requiredChecks, checks }: Review): void {
  const missing = requiredChecks.filter(
    (check) => checks.find((one) => one.name === check)?.status !== "passed",
  );
  if (missing.length === 0) return;
  throw new AgentBoxError(
    "merge.checks",
    `Checks that have not passed on this state: ${missing.join(", ")}.`,
    {
      hint: `Run them: agentbox check ${name}`,
      facts: { checks: missing },
    },
  );
}

async function requestOf(
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  { mode, message, accept }: Landing,
  person: string | undefined,
): Promise<{ readonly request: MergeRequest; readonly subject: ReviewSubject }> {
  const subject = await compareKept(core, name, {});
  const { box, repository, to, checkpoint } = subject;
  const base = await baseOf(core, box, repository);
  const projectDir = requireProject(box);
  const { agent } = box.spec;
  const commits = await repository.commits(base, checkpoint?.head ?? base);
  const isAccepted = accept.includes("commit");
  const author = commits[0]?.author;
  // SECURITY: an agent writes any name into its commits; a stranger's comes along only when it was accepted.
  const isKept = isAccepted || person === undefined || (author !== undefined && isOwnAuthor(author, person));
  const request: MergeRequest = {
    projectDir,
    reviewGitDir: repository.gitDir,
    base,
    commit: to,
    head: checkpoint?.head ?? base,
    mode,
    message: message ?? messageFor(box, isAccepted ? commits : plainOnly(commits)),
    trailers: [
      `AgentBox-Box: ${name}`,
      `AgentBox-Agent: ${[agent.name, agent.version].filter(Boolean).join(" ")}`,
    ],
    ...(author === undefined || !isKept ? {} : { author }),
  };
  return { request, subject };
}

function requireProject(box: Box): string {
  const { name } = box;
  const found = projectOf(box);
  if (found !== undefined) return found;
  throw new AgentBoxError(
    "review.unavailable",
    `The box "${name}" came from no project it could be merged into.`,
    { hint: `Take the work out: agentbox export ${name} --patch FILE` },
  );
}

const unseen = (name: string, command: LandingCommand, { digest, totals, dangers }: Review): AgentBoxError =>
  new AgentBoxError("merge.unseen", "You have not looked at the work yet.", {
    hint: `Look at it: agentbox diff ${name}, then agentbox ${command} ${name}; a program names what it has read with --digest`,
    facts: { digest, totals, dangers: dangers.slice(0, 100) },
  });

const changedSince = (name: string, seen: string, found: string): AgentBoxError =>
  new AgentBoxError("merge.danger", "The work has changed since it was looked at.", {
    hint: `Look again: agentbox diff ${name}`,
    facts: { seen, found },
  });

export const unchanged = (name: string): AgentBoxError =>
  new AgentBoxError("review.nothing", `The box "${name}" has changed nothing.`, {
    hint: `Its agent's words: agentbox logs ${name}`,
  });

export const conflict = (name: string, conflicts: readonly MergeConflict[]): AgentBoxError =>
  new AgentBoxError(
    "merge.conflict",
    `${conflicts.length} ${conflicts.length === 1 ? "path" : "paths"} changed on both sides: ${conflicts
      .slice(0, 5)
      .map(({ path }) => path)
      .join(", ")}. Nothing was changed.`,
    {
      hint: `Let the agent rebase onto your branch: agentbox rebase ${name}, or merge by hand from agentbox export ${name} --bundle FILE`,
      facts: { conflicts: conflicts.slice(0, 100) },
    },
  );
