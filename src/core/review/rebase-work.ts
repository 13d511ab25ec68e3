/**
 * Lets the agent take its work to the newest state of the project's branch: the commits go into the box as a bundle, and
 * the agent is told what has come and where the two sides meet. The box gets commits of the branch that the project has
 * checked out, which is what a new box would begin with, and nothing of the host's repository but these objects.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { type Box, boxPaths } from "../../contract/box.ts";
import type { UpstreamRecord } from "../../contract/review/upstream.ts";
import type { MergeTip } from "../../ports/merge.ts";
import type { ReviewRepository } from "../../ports/review.ts";
import { sendMessage } from "../agents/talk-to-agent.ts";
import { execInBox, lastLine } from "../exec/exec-in-box.ts";
import type { LinkParts, ReviewParts, StartParts, Using } from "../using.ts";
import { projectOf } from "./judge-landing.ts";
import { withLink } from "./quiet-box.ts";
import { baseOf, checkpointsOf, reviewOf } from "./review-of.ts";

/** Where the agent finds it, in its own repository. */
const upstreamRef = "refs/agentbox/upstream";
const timeoutMs = 10 * 60_000;
const maxSubjects = 20;
const maxPaths = 100;

/** The bundle comes on stdin. A constant: nothing that varies is part of it. */
const script = `
set -e
cd ${boxPaths.workspace}
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null
export GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false
mkdir -p ${boxPaths.home}/.agentbox
file=${boxPaths.home}/.agentbox/upstream.bundle
trap 'rm -f "$file"' EXIT
cat > "$file"
git fetch -q --no-tags "$file" '+refs/agentbox/checkpoint:${upstreamRef}'
`;

export interface Rebased {
  readonly box: Box;
  readonly commit: string;
  readonly branch?: string | undefined;
  /** How many commits the branch has that the box did not. */
  readonly commits: number;
  /** Whether there is an agent that was told. */
  readonly isSent: boolean;
}

type Parts = Using<StartParts | LinkParts | ReviewParts | "getBox">;

export async function rebaseWork(core: Parts, name: string): Promise<Rebased> {
  const before = await core.getBox(name);
  requireQuiet(before);
  const { repository, tip, base } = await sourceOf(core, before);
  const news = await newCommits(repository, base, tip.head, name);
  const paths = await bothChanged(core, before, repository, base, tip.head);
  await withLink(core, name, async (_, link) => {
    await bringIn(name, repository, tip.head, (input) =>
      execInBox(link, { argv: ["/bin/sh", "-c", script, "upstream"], timeoutMs, input }),
    );
  });
  await keepUpstream(core, before, tip);
  const facts = { commit: tip.head, commits: news.length, ...omitUndefined({ branch: tip.branch }) };
  if (before.run === undefined) return { box: before, ...facts, isSent: false };
  const box = await sendMessage(core, name, messageOf(tip, news, paths));
  return { box, ...facts, isSent: true };
}

/** Before anything is brought in: an agent that works on its task cannot be told. */
function requireQuiet({ name, run, state }: Box): void {
  if (run?.mode !== "headless" || run.state !== "working" || state.phase !== "running") return;
  throw new AgentBoxError("agent.busy", `The agent in "${name}" is working.`, {
    hint: `Wait until it is done, or stop it first: agentbox interrupt ${name}`,
  });
}

async function sourceOf(core: Parts, box: Box) {
  const { name } = box;
  const projectDir = projectOf(box);
  if (box.spec.workspace.mode !== "clone" || projectDir === undefined) {
    throw new AgentBoxError("review.unavailable", `The box "${name}" has no clone of a project.`, {
      hint: `Merge by hand from: agentbox export ${name} --bundle FILE`,
    });
  }
  if ((await checkpointsOf(core, box)).some(({ reason }) => reason === "base")) {
    throw new AgentBoxError(
      "review.unavailable",
      `The box "${name}" began with uncommitted changes of yours, which no commit has.`,
      { hint: `Commit them, and start a new box from: agentbox export ${name} --patch FILE` },
    );
  }
  const tip = await core.ports.merges.tip(projectDir);
  if (tip?.head === undefined) {
    throw new AgentBoxError("review.unavailable", `The project of "${name}" has no commit to go on from.`, {
      hint: "Commit something there first.",
    });
  }
  const repository = await reviewOf(core, box);
  return { repository, tip: { ...tip, head: tip.head }, base: await baseOf(core, box, repository) };
}

async function newCommits(
  repository: ReviewRepository,
  base: string,
  head: string,
  name: string,
): Promise<readonly { readonly id: string; readonly subject: string }[]> {
  const commits = await repository.commits(base, head);
  if (commits.length > 0) return commits;
  throw new AgentBoxError("review.nothing", `The branch has nothing that "${name}" does not have.`, {
    hint: `Merge it: agentbox merge ${name}`,
  });
}

/** Paths that both sides have changed since they went apart, in the order of git. */
async function bothChanged(
  core: Using<"store">,
  box: Box,
  repository: ReviewRepository,
  base: string,
  head: string,
): Promise<readonly string[]> {
  const work = (await checkpointsOf(core, box)).at(-1)?.commit ?? base;
  const theirs = new Set((await repository.changes(base, head)).map(({ path }) => path));
  return (await repository.changes(base, work)).map(({ path }) => path).filter((path) => theirs.has(path));
}

async function bringIn(
  name: string,
  repository: ReviewRepository,
  head: string,
  fetch: (bundle: AsyncIterable<Uint8Array>) => Promise<{ code: number | null; output: string }>,
): Promise<void> {
  if ((await fetch(repository.bundle(head, { isWhole: false }))).code === 0) return;
  // A clone that lacks the base is sent all of it, as for a checkpoint that is restored.
  const { code, output } = await fetch(repository.bundle(head, { isWhole: true }));
  if (code === 0) return;
  throw new AgentBoxError(
    "review.failed",
    `The branch could not be brought into "${name}": ${printable(lastLine(output)).slice(0, 300)}.`,
    { hint: `Look into it: agentbox exec ${name} -- git status` },
  );
}

async function keepUpstream(
  core: Using<"clock" | "commit" | "event" | "store">,
  box: Box,
  { head, branch }: MergeTip & { readonly head: string },
): Promise<void> {
  const { name, incarnation } = box;
  const known = await core.ports.store.listReview("upstream", { incarnation });
  const value: UpstreamRecord = {
    box: name,
    incarnation,
    number: (known.at(-1)?.number ?? 0) + 1,
    commit: head,
    ...omitUndefined({ branch }),
    atMs: core.ports.clock.nowMs(),
  };
  await core.commit({
    review: [{ kind: "upstream", key: String(value.number), value }],
    events: [core.event("review.upstream", box, { commit: head, branch })],
  });
}

/** SECURITY: names of files may come from the box and subjects from anybody who commits there: as data, in a list. */
export function messageOf(
  { head, branch }: Pick<MergeTip, "branch"> & { readonly head: string },
  commits: readonly { readonly id: string; readonly subject: string }[],
  paths: readonly string[],
): string {
  const where = branch === undefined ? "The project" : `The branch ${printable(branch)}`;
  const list = (items: readonly string[], most: number): string[] => [
    ...items.slice(0, most).map((item) => `- ${item}`),
    ...(items.length > most ? [`- and ${items.length - most} more`] : []),
  ];
  return [
    `${where} has moved on, and your work does not merge with it as it is.`,
    `Its newest state, ${head.slice(0, 12)}, is in your repository as ${upstreamRef}.`,
    `Commit what you have, rebase your work onto it (git rebase ${upstreamRef}), keep the meaning of both sides, and run the tests.`,
    "",
    `New commits there (${commits.length}):`,
    ...list(
      commits.toReversed().map(({ id, subject }) => `${id.slice(0, 12)} ${printable(subject).slice(0, 120)}`),
      maxSubjects,
    ),
    ...(paths.length === 0
      ? []
      : [
          "",
          "Files that both sides have changed:",
          ...list(
            paths.map((path) => printable(path)),
            maxPaths,
          ),
        ]),
  ].join("\n");
}
