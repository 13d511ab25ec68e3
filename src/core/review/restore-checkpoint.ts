/** Brings the workspace of a box to a checkpoint: its own, or another box's. Done by git in the box. */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { type Box, boxPaths } from "../../contract/box.ts";
import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import type { BoxLink } from "../../ports/link.ts";
import type { ReviewRepository } from "../../ports/review.ts";
import type { LinkParts, Using } from "../using.ts";
import { execInBox, lastLine } from "../exec/exec-in-box.ts";
import { withLink } from "./quiet-box.ts";
import { requireOwnFiles, resolveCheckpoint, reviewOf } from "./review-of.ts";
import { takeFrom } from "./checkpoint-over-link.ts";

const timeoutMs = 10 * 60_000;

/**
 * $1: "git" or "plain". $2: the base, which is a commit of its own; every other checkpoint lies on top of one. The bundle
 * comes on stdin. $3: the branch, for a workspace that has no repository yet. A constant: nothing that varies is part of it.
 */
const script = `
set -e
mode=$1; base=$2; branch=$3
cd ${boxPaths.workspace}
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
# Hooks of the repository could refuse this, or take it for something a person does.
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null
export GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false
mkdir -p ${boxPaths.home}/.agentbox
file=${boxPaths.home}/.agentbox/restore.bundle
trap 'rm -f "$file"' EXIT
cat > "$file"
if [ "$mode" = plain ]; then
  own=${boxPaths.home}/.agentbox/work.git
  [ -f "$own/HEAD" ] || git init -q --bare "$own"
  export GIT_DIR="$own" GIT_WORK_TREE=${boxPaths.workspace}
elif [ ! -e .git ]; then
  git init -q
  git symbolic-ref HEAD "refs/heads/$branch"
fi
git fetch -q --no-tags "$file" '+refs/agentbox/checkpoint:refs/agentbox/restored'
head=$(git rev-parse refs/agentbox/restored)
if [ "$head" != "$base" ]; then head=$(git rev-parse -q --verify 'refs/agentbox/restored^' || true); fi
if [ "$mode" = git ] && [ -n "$head" ]; then git reset -q --hard "$head"; fi
git read-tree -u --reset refs/agentbox/restored
git clean -fdq -e /.git
if [ "$mode" = git ] && [ -n "$head" ]; then git reset -q "$head"; fi
`;

/** The present state is kept as a checkpoint first, so that this can be taken back, too. */
export async function restoreCheckpoint(
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  wanted: string,
): Promise<Checkpoint | undefined> {
  requireOwnFiles(await core.getBox(name));
  return withLink(core, name, async (box, link) => {
    if (box.run && box.state.phase === "running" && box.run.state === "working") {
      throw new AgentBoxError("agent.busy", `The agent in "${name}" is working.`, {
        hint: `Stop it first: agentbox interrupt ${name}`,
      });
    }
    await takeFrom(core, box, link, { reason: "restore" });
    const repository = await reviewOf(core, box);
    const { commit, checkpoint } = await resolveCheckpoint(core, box, repository, wanted);
    await restoreInto(box, link, repository, commit);
    await core.note("checkpoint.restored", box, { checkpoint: checkpoint?.number ?? 0 });
    return checkpoint;
  });
}

export async function restoreInto(
  box: Box,
  link: BoxLink,
  repository: ReviewRepository,
  commit: string,
): Promise<void> {
  const mode = box.spec.workspace.mode === "clone" ? "git" : "plain";
  const argv = ["/bin/sh", "-c", script, "restore", mode, repository.base, `agentbox/${box.name}`];
  const restore = (isWhole: boolean) =>
    execInBox(link, { argv, timeoutMs, input: repository.bundle(commit, { isWhole }) });
  if ((await restore(false)).code === 0) return;
  // The person may have rewritten their history: then a fresh clone lacks the base, and is sent all of it.
  const { code, output } = await restore(true);
  if (code === 0) return;
  throw new AgentBoxError(
    "review.failed",
    `The checkpoint could not be restored in "${box.name}": ${printable(lastLine(output)).slice(0, 300)}.`,
    { hint: `Look into it: agentbox exec ${box.name} -- git status` },
  );
}
