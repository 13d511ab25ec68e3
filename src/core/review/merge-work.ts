/** Lands an agent's work in the person's repository, after everything that must be looked at was. */
import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { DangerKind } from "../../contract/review/danger.ts";
import type { MergeMode, MergeRecord } from "../../contract/review/merge.ts";
import type { MergeOutcome, MergeRequest } from "../../ports/merge.ts";
import type { Core } from "../context.ts";
import { removeBox } from "../remove-box.ts";
import { readReview, findSubject } from "./read-review.ts";
import { baseOf } from "./review-of.ts";

export interface MergeOptions {
  readonly mode: MergeMode;
  readonly message?: string | undefined;
  /** Kinds of danger that a person has looked at and accepts. */
  readonly accept: readonly DangerKind[];
  /** What was looked at; another state is refused. SECURITY: the agent could change its work after the review. */
  readonly digest?: string | undefined;
  readonly skipsChecks?: boolean | undefined;
}

export async function mergeWork(core: Core, name: string, options: MergeOptions): Promise<MergeRecord> {
  const review = await readReview(core, name, {});
  if (options.digest !== undefined && options.digest !== review.digest) {
    throw new AgentBoxError("merge.danger", "The work has changed since it was looked at.", {
      hint: `Look again: agentbox diff ${name}`,
      facts: { seen: options.digest, found: review.digest },
    });
  }
  if (review.changes.length === 0) throw nothing(name);
  const open = [...new Set(review.dangers.map(({ kind }) => kind))].filter(
    (kind) => !options.accept.includes(kind),
  );
  if (open.length > 0) {
    throw new AgentBoxError(
      "merge.danger",
      `The work has dangers that nobody has accepted: ${open.join(", ")}.`,
      {
        hint: `Look at them (agentbox diff ${name}), then: agentbox merge ${name} ${open.map((kind) => `--accept-danger ${kind}`).join(" ")}`,
        facts: { dangers: review.dangers.filter(({ kind }) => open.includes(kind)).slice(0, 100) },
      },
    );
  }
  if (!options.skipsChecks) requireChecks(name, review);
  const request = await requestOf(core, name, options);
  const outcome = await core.ports.merges.apply(request);
  return record(core, name, request, outcome);
}

function requireChecks(
  name: string,
  { requiredChecks, checks }: Awaited<ReturnType<typeof readReview>>,
): void {
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

async function requestOf(core: Core, name: string, { mode, message }: MergeOptions): Promise<MergeRequest> {
  const { box, repository, to, checkpoint } = await findSubject(core, name, { to: "latest" });
  const base = await baseOf(core, box, repository);
  const projectDir = box.projectDir ?? box.spec.workspace.source;
  if (projectDir === undefined) {
    throw new AgentBoxError(
      "review.unavailable",
      `The box "${name}" came from no project it could be merged into.`,
      {
        hint: `Take the work out: agentbox export ${name} --patch FILE`,
      },
    );
  }
  const { agent } = box.spec;
  const commits = await repository.commits(base, checkpoint?.head ?? base);
  return {
    projectDir,
    reviewGitDir: repository.gitDir,
    base,
    commit: to,
    head: checkpoint?.head ?? base,
    mode,
    message: message ?? messageFor(box, commits),
    trailers: [
      `AgentBox-Box: ${name}`,
      `AgentBox-Agent: ${[agent.name, agent.version].filter(Boolean).join(" ")}`,
    ],
    ...(commits[0] === undefined ? {} : { author: commits[0].author }),
  };
}

/** The agent's own words where it has made one commit, its task otherwise. */
function messageFor(box: Box, commits: readonly { readonly subject: string }[]): string {
  const [only, ...more] = commits;
  if (only && more.length === 0) return only.subject;
  const task = box.run?.task?.split("\n")[0]?.slice(0, 72);
  const list = commits.map(({ subject }) => `- ${subject}`).join("\n");
  return [task ?? `Work of ${box.spec.agent.name} in ${box.name}`, ...(list === "" ? [] : ["", list])].join(
    "\n",
  );
}

async function record(
  core: Core,
  name: string,
  request: MergeRequest,
  outcome: MergeOutcome,
): Promise<MergeRecord> {
  switch (outcome.outcome) {
    case "nothing":
      throw nothing(name);
    case "conflict":
      throw new AgentBoxError(
        "merge.conflict",
        `${outcome.conflicts.length} ${outcome.conflicts.length === 1 ? "path" : "paths"} changed on both sides: ${outcome.conflicts
          .slice(0, 5)
          .map(({ path }) => path)
          .join(", ")}. Nothing was changed.`,
        {
          hint: `Tell the agent: agentbox send ${name} "merge origin's newest state", or merge by hand from agentbox export ${name} --bundle FILE`,
          facts: { conflicts: outcome.conflicts.slice(0, 100) },
        },
      );
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
  core: Core,
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

const nothing = (name: string): AgentBoxError =>
  new AgentBoxError("review.nothing", `The box "${name}" has changed nothing.`, {
    hint: `Its agent's words: agentbox logs ${name}`,
  });

/** Takes the latest merge back, of a box or of a project. */
export async function undoMerge(
  core: Core,
  which: { readonly box?: string; readonly projectDir?: string },
): Promise<MergeRecord> {
  return core.locked("merges", async () => {
    const all = await core.ports.store.listReview(
      "merge",
      which.projectDir === undefined ? {} : { projectDir: which.projectDir },
    );
    const last = all.findLast((one) => !one.isUndone && (which.box === undefined || one.box === which.box));
    if (!last) {
      throw new AgentBoxError("review.nothing", "There is no merge that could be taken back.", {
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

/** The work is not wanted: the box and all of it go. */
export async function discardWork(core: Core, name: string): Promise<void> {
  const box = await core.getBox(name);
  await core.note("work.discarded", box);
  await removeBox(core, name, { force: true });
}

export async function exportWork(
  core: Core,
  name: string,
  format: "patch" | "bundle",
  file: string,
): Promise<void> {
  // SECURITY: a relative path would mean the daemon's own directory, which is nobody's choice.
  if (!file.startsWith("/") || file.includes("\0")) {
    throw new AgentBoxError("input.invalid", `${JSON.stringify(file.slice(0, 200))} is no absolute path.`, {
      hint: "Name the file from the root: /home/me/work.patch",
    });
  }
  const { box, repository, to, checkpoint } = await findSubject(core, name, {});
  const base = await baseOf(core, box, repository);
  if ((await repository.totals(base, to)).files === 0) throw nothing(name);
  await core.ports.merges.export(
    { reviewGitDir: repository.gitDir, base, commit: to, head: checkpoint?.head ?? base },
    format,
    file,
    { branch: `agentbox/${name}` },
  );
  await core.note("work.exported", box, { format, file });
}
