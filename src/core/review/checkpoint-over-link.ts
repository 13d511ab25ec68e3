/** Takes a checkpoint of a box whose link is open. */
import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError, isAgentBoxError, messageOf } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { Box } from "../../contract/box.ts";
import type { Checkpoint, CheckpointReason } from "../../contract/review/checkpoint.ts";
import type { BoxLink } from "../../ports/link.ts";
import type { IncomingBundle } from "../../ports/review.ts";
import type { RecordParts, Using } from "../using.ts";
import { checkpointOverhead, keptBytes } from "../resources/kept-bytes.ts";
import { execInBox, lastLine } from "../exec/exec-in-box.ts";
import { baseOf, checkpointsOf, hasRepository, reviewOf } from "./review-of.ts";
import { snapshotArgv, unchangedExit, unusableExit } from "./snapshot-script.ts";

const takeTimeoutMs = 10 * 60_000;

export interface TakeOptions {
  readonly reason: CheckpointReason;
  readonly name?: string | undefined;
}

/** One at a time for each box: a second one waits and then finds that nothing has changed. */
export const takeFrom = (
  core: Using<RecordParts | "locked" | "reviews" | "storage">,
  box: Box,
  link: BoxLink,
  options: TakeOptions,
): Promise<Checkpoint | undefined> => core.locked(`review:${box.name}`, () => take(core, box, link, options));

async function take(
  core: Using<RecordParts | "reviews" | "storage">,
  box: Box,
  link: BoxLink,
  { reason, name }: TakeOptions,
): Promise<Checkpoint | undefined> {
  const repository = await reviewOf(core, box);
  const known = await checkpointsOf(core, box);
  const last = known.at(-1);
  const space = spaceFor(box, known, reason);
  await using incoming = disposable(await repository.receive(space.bytes));
  const isNew = await fetchBundle(box, link, requiring(space, incoming.bundle), {
    isRepository: hasRepository(box),
    lastTree: last?.tree ?? "none",
    lastHead: last?.head ?? "none",
    have: await repository.have(),
  });
  if (!isNew) return last && name !== undefined ? rename(core, box, last, name) : last;
  const number = (last?.number ?? 0) + 1;
  const { commit, tree, head, bytes } = await repository.take(incoming.bundle.file, number, space.bytes);
  const base = await baseOf(core, box, repository);
  const totals = await repository.totals(base, commit);
  // Taken for the first time, without any difference: there is nothing to keep.
  if (!last && totals.files === 0 && (head === base || head === commit) && reason !== "base")
    return undefined;
  const checkpoint: Checkpoint = {
    box: box.name,
    incarnation: box.incarnation,
    number,
    ...omitUndefined({ name }),
    atMs: core.ports.clock.nowMs(),
    reason,
    commit,
    tree,
    head,
    totals,
    bytes,
  };
  await keep(core, box, checkpoint);
  return checkpoint;
}

/** SECURITY: what a box changes and changes back would be kept for ever, beyond every limit on its disk. */
function spaceFor({ name, spec }: Box, known: readonly Checkpoint[], reason: CheckpointReason) {
  const used = known.reduce((sum, { bytes }) => sum + bytes + checkpointOverhead, 0);
  const { checkpoints } = keptBytes(spec.resources.diskBytes);
  const isByItself = reason === "turn" || reason === "timer";
  const room = (isByItself ? checkpoints : 2 * checkpoints) - used;
  const require = (): void => {
    if (room > 0) return;
    throw new AgentBoxError(
      "review.too_large",
      `The checkpoints of "${name}" take ${formatBytes(used)}, which is all they may.`,
      { hint: "Go on in a new box that starts from this work, or ask for a larger resources.disk there." },
    );
  };
  // Who only looks is answered as long as nothing has changed.
  if (isByItself) require();
  return { bytes: Math.max(0, room), require };
}

async function rename(
  core: Using<"commit" | "event">,
  box: Box,
  checkpoint: Checkpoint,
  name: string,
): Promise<Checkpoint> {
  const named = { ...checkpoint, name };
  await keep(core, box, named);
  return named;
}

function keep(core: Using<"commit" | "event">, box: Box, checkpoint: Checkpoint): Promise<void> {
  const { number, name, reason, totals } = checkpoint;
  return core.commit({
    review: [{ kind: "checkpoint", key: String(number), value: checkpoint }],
    events: [core.event("checkpoint.taken", box, { number, name, reason, ...totals })],
  });
}

/** False when nothing has changed since the last one. */
async function fetchBundle(
  box: Box,
  link: BoxLink,
  incoming: Pick<IncomingBundle, "write" | "close">,
  request: Parameters<typeof snapshotArgv>[0],
): Promise<boolean> {
  const { code, output } = await execInBox(link, {
    argv: snapshotArgv(request),
    timeoutMs: takeTimeoutMs,
    onStdout: (chunk) => incoming.write(chunk),
  });
  if (code === unchangedExit) return false;
  if (code !== 0) throw unusable(box, code, output);
  await incoming.close();
  return true;
}

function unusable({ name }: Box, exitCode: number | null, stderr: string): AgentBoxError {
  const why =
    exitCode === unusableExit
      ? "its workspace is no longer a repository, or git is not there"
      : printable(lastLine(stderr)).slice(0, 300) || `git ended with ${exitCode ?? "a signal"}`;
  return new AgentBoxError("review.failed", `The work of "${name}" could not be read: ${why}.`, {
    hint: `Look into it: agentbox exec ${name} -- git status`,
  });
}

const requiring = (
  space: { require(): void },
  bundle: IncomingBundle,
): Pick<IncomingBundle, "write" | "close"> => ({
  write: async (chunk) => {
    space.require();
    await bundle.write(chunk);
  },
  close: () => bundle.close(),
});

const disposable = (bundle: IncomingBundle) => ({
  bundle,
  [Symbol.asyncDispose]: () => bundle.discard(),
});

/** For moments without a waiting caller: a checkpoint that fails is noted and taken the next time. */
export async function takeQuietly(
  core: Using<RecordParts | "locked" | "noteFromBox" | "report" | "reviews" | "storage">,
  box: Box,
  link: BoxLink,
  reason: CheckpointReason,
): Promise<void> {
  if (box.spec.workspace.mode === "mount" || !link.isConnected) return;
  try {
    await takeFrom(core, box, link, { reason });
  } catch (error) {
    core.ports.report({ box: box.name, error: messageOf(error) }, "a checkpoint could not be taken");
    if (isAgentBoxError(error, "review.too_large"))
      core.noteFromBox("limit.refused", box, { limit: "checkpoints", reason: error.message });
  }
}
