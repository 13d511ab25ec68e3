/** Lands an agent's work in the person's repository, after everything that must be looked at was. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { hasOwnGit } from "../../contract/guarded-paths.ts";
import type { MergeMode, MergeRecord } from "../../contract/review/merge.ts";
import type { Box } from "../../contract/box.ts";
import type { MergeOutcome, MergeRequest } from "../../ports/merge.ts";
import type { RemovedBox } from "../../contract/review/removed.ts";
import type { LinkParts, LookParts, RecordParts, ReviewParts, Using } from "../using.ts";
import { removeBox } from "../removal/remove-box.ts";
import { type LookedAt, conflict, unchanged, allowLanding } from "./allow-landing.ts";
import { checkpointAndCompare } from "./read-review.ts";
import { baseOf, beginning } from "./review-of.ts";

export interface MergeOptions extends LookedAt {
  readonly mode: MergeMode;
  readonly message?: string | undefined;
}

export async function mergeWork(
  core: Using<ReviewParts>,
  name: string,
  options: MergeOptions,
): Promise<MergeRecord> {
  const box = await core.getBox(name);
  if (hasOwnGit(box)) return mergeBeside(core, box, options);
  const request = await allowLanding(core, name, "merge", options);
  const outcome = await core.ports.merges.apply(request);
  return record(core, name, request, outcome);
}

/**
 * The person's files have the changes already, uncommitted. So the commits become a branch of their own, and nothing else in
 * the repository is touched.
 */
async function mergeBeside(core: Using<ReviewParts>, box: Box, options: MergeOptions): Promise<MergeRecord> {
  const { name } = box;
  if (options.mode === "patch")
    throw new AgentBoxError("input.invalid", `The files of "${name}" are in your directory already.`, {
      hint: `Bring its commits as a branch: agentbox merge ${name} --mode commits`,
    });
  const onto = await beginning(core, box);
  const request = await allowLanding(core, name, "merge", { ...options, onto });
  const outcome = await core.ports.merges.keepBranch(request, onto, `agentbox/${name}`);
  return record(core, name, request, outcome);
}

async function record(
  core: Using<RecordParts | "getBox" | "locked">,
  name: string,
  request: MergeRequest,
  outcome: MergeOutcome,
): Promise<MergeRecord> {
  switch (outcome.outcome) {
    case "nothing":
      throw unchanged(name);
    case "conflict":
      throw conflict(name, outcome.conflicts);
    case "dirty":
      throw new AgentBoxError(
        "merge.dirty",
        `Uncommitted changes are in the way: ${outcome.paths.slice(0, 5).join(", ")}. Nothing was changed.`,
        { hint: "Commit or stash them, and try again.", facts: { paths: outcome.paths.slice(0, 100) } },
      );
    case "merged":
    default:
      return keepMerge(core, name, request, outcome.record);
  }
}

async function keepMerge(
  core: Using<RecordParts | "getBox" | "locked">,
  name: string,
  { projectDir, commit }: MergeRequest,
  merged: Extract<MergeOutcome, { outcome: "merged" }>["record"],
): Promise<MergeRecord> {
  const box = await core.getBox(name);
  return core.locked("merges", async () => {
    const all = await core.ports.store.listReview("merge", {});
    const value: MergeRecord = {
      id: (all.reduce((most, { id }) => Math.max(most, id), 0) ?? 0) + 1,
      box: name,
      incarnation: box.incarnation,
      projectDir,
      commit,
      atMs: core.ports.clock.nowMs(),
      isUndone: false,
      ...merged,
    };
    await core.commit({
      review: [{ kind: "merge", key: String(value.id), value }],
      events: [
        core.event("work.merged", box, {
          merge: value.id,
          mode: value.mode,
          branch: value.branch,
          files: value.files,
          after: value.after,
        }),
      ],
    });
    return value;
  });
}

/** Takes the latest merge back, of a box or of a project. */
export async function undoMerge(
  core: Using<"commit" | "event" | "locked" | "merges" | "store">,
  which: { readonly box?: string; readonly incarnation?: string; readonly projectDir?: string },
): Promise<MergeRecord> {
  return core.locked("merges", async () => {
    const all = await core.ports.store.listReview("merge", omitUndefined({ projectDir: which.projectDir }));
    const isMeant = ({ box, incarnation }: MergeRecord): boolean =>
      (which.box === undefined || box === which.box) &&
      (which.incarnation === undefined || incarnation === which.incarnation);
    const last = all.findLast((one) => !one.isUndone && isMeant(one));
    if (!last) {
      throw new AgentBoxError("review.nothing", "There is no merge to undo.", {
        hint: "Merges of this project are in: agentbox events --type work.merged",
      });
    }
    await core.ports.merges.undo(last);
    const undone = { ...last, isUndone: true };
    await core.commit({
      review: [{ kind: "merge", key: String(last.id), value: undone }],
      events: [core.event("work.undone", undefined, { merge: last.id, box: last.box })],
    });
    return undone;
  });
}

/** The work is not wanted: the box goes, and its work is kept for a while as that of any removed box. */
export async function discardWork(
  core: Using<LookParts | "note">,
  name: string,
): Promise<RemovedBox | undefined> {
  const box = await core.getBox(name);
  await core.note("work.discarded", box);
  return removeBox(core, name, { force: true });
}

export async function exportWork(
  core: Using<LinkParts | "commit" | "event" | "merges" | "reviews">,
  name: string,
  format: "patch" | "bundle",
  file: string,
): Promise<void> {
  // SECURITY: a relative path would mean the daemon's own directory, which no person chose.
  if (!file.startsWith("/") || file.includes("\0")) {
    throw new AgentBoxError("input.invalid", `${JSON.stringify(file.slice(0, 200))} is no absolute path.`, {
      hint: "Name the file from the root: /home/me/work.patch",
    });
  }
  const { box, repository, to, checkpoint } = await checkpointAndCompare(core, name, {});
  const base = await baseOf(core, box, repository);
  if ((await repository.totals(base, to)).files === 0) throw unchanged(name);
  await core.ports.merges.export(
    { reviewGitDir: repository.gitDir, base, commit: to, head: checkpoint?.head ?? base },
    format,
    file,
    { branch: `agentbox/${name}` },
  );
  await core.note("work.exported", box, { format, file });
}
