import { isAgentBoxError, messageOf, toAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { CreateBox, CreatedBox, StartRun } from "../../contract/api/schemas.ts";
import type { Box, BoxSpec, Isolation } from "../../contract/box.ts";
import { type Maker, makerName, ownerMaker, withBoxOwner } from "../team/members.ts";
import { allocateOwner } from "./allocate-owner.ts";
import { proposeName } from "./box-names.ts";
import { moveTo } from "./box-phases.ts";
import { guardWords } from "../../contract/guarded-paths.ts";
import type { NetworkPolicy } from "../../contract/network/policy.ts";
import type { PreparedWorkspace } from "../../ports/workspace.ts";
import type { PlanParts, RecordParts, RemoveParts, StartParts, Using } from "../using.ts";
import { grantToBox, orderedUses } from "../secrets/authorise-use.ts";
import type { AskedUse } from "../secrets/secret-grants.ts";
import { erase } from "../removal/erase-box.ts";
import { boot, bootWhile } from "../boot/start-box.ts";
import { takePrices } from "../budget/own-prices.ts";
import { firstRun } from "../agents/begin-run.ts";
import { getAgent } from "../agents/get-agent.ts";
import type { SoundPlan } from "../plan/box-plan.ts";
import { soundPlan } from "../plan/sound-plan.ts";

type Parts = Using<StartParts | "access" | "caches" | "getBox" | "ids" | "owners" | "workspaces">;

/** Makes a box from its plan. Either it is there as planned, or nothing of it is and all problems are told. */
export async function createBox(
  core: Using<StartParts | PlanParts | "access" | "budgets" | "caches" | "getBox" | "ids" | "owners">,
  request: CreateBox,
  maker: Maker = ownerMaker,
): Promise<CreatedBox> {
  const plan = await soundPlan(core, { ...request, ...maker, makes: "box" });
  const { spec, isolation, network, command, manifestDigest, layers } = plan;
  takePrices(core, layers);
  core.ports.modelKeys.remember(spec.model, request.variables ?? {});
  const run =
    command.kind === "agent"
      ? firstRun(core, getAgent(core, spec.agent.name), request.run!, makerName(core, maker))
      : undefined;
  const main = command.kind === "session" ? command.main : run && awaited(spec, request.run!);
  const {
    box,
    leftBehind,
    emptySubmodules = [],
  } = await raise(core, {
    spec,
    isolation,
    // A clone from elsewhere does not belong to the caller's current directory.
    projectDir: spec.workspace.url === undefined ? plan.projectDir : undefined,
    name: request.name,
    main,
    run,
    network,
    manifestDigest,
    isStarted: request.start,
    isEphemeral: request.ephemeral,
    grants: orderedUses(spec.secrets),
    person: maker.person,
  });
  const unexpected = [...unexpectedlyEmpty(plan), ...withoutSubmodules(box.name, emptySubmodules)];
  return { box, command, leftBehind, warnings: [...plan.warnings, ...guardWords(box), ...unexpected] };
}

/** Makes a box from a specification that another box had, and that was agreed to then. */
export const raiseBox = async (core: Parts, draft: Draft): Promise<Box> => (await raise(core, draft)).box;

async function raise(
  core: Parts,
  { isStarted, isEphemeral = false, grants = [], ...draft }: Draft,
): Promise<{ box: Box } & PreparedWorkspace> {
  const registered = await register(core, draft);
  return core.locked(registered.name, async () => {
    const { made, filled } = await provision(core, registered, { isStarted, isEphemeral, grants });
    return { box: made, ...filled };
  });
}

/** Planned anew at every start; until the first it only says how large the terminal is. */
const awaited = ({ agent }: BoxSpec, { mode, cols, rows }: StartRun): Box["main"] => ({
  argv: [agent.name],
  env: {},
  terminal: mode === "interactive",
  cols,
  rows,
});

/** A project directory that is left out without being named: the box would seem to have lost the files. */
function unexpectedlyEmpty({ projectDir, layers, spec: { workspace } }: SoundPlan): string[] {
  const isChosen = layers.some(({ values }) => values.workspace?.mode !== undefined);
  if (projectDir === undefined || isChosen || workspace.mode !== "empty") return [];
  return [`The workspace is empty: ${projectDir} is or holds a home directory, and that stays outside.`];
}

const shownSubmodules = 5;

/** Their directories are there and empty, which looks like a repository that does not build. */
function withoutSubmodules(box: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, shownSubmodules).map((path) => printable(path));
  const more = paths.length > shown.length ? ` and ${paths.length - shown.length} more` : "";
  return [
    `Submodules are empty in the clone: ${shown.join(", ")}${more}. To get them, allow their hosts and run: agentbox exec ${box} -- git submodule update --init`,
  ];
}

interface Draft {
  readonly name: string | undefined;
  /** Of a box that comes back; a new box has one of its own. */
  readonly incarnation?: string;
  readonly spec: BoxSpec;
  readonly isolation: Isolation;
  readonly main: Box["main"] | undefined;
  readonly run: Box["run"] | undefined;
  readonly projectDir: string | undefined;
  readonly network: NetworkPolicy;
  readonly manifestDigest: string | undefined;
  readonly isStarted: boolean;
  /** The caller did not ask for it to stay. */
  readonly isEphemeral?: boolean;
  /** Uses of secrets that the box is made with a grant for. */
  readonly grants?: readonly AskedUse[];
  /** Whose it is; absent: the owner's. */
  readonly person?: string | undefined;
}

type Registration = Omit<Draft, "isStarted" | "isEphemeral" | "grants">;

/** Takes the name and the user. One at a time, because two boxes must not choose the same. */
function register(
  core: Using<RecordParts | "access" | "ids" | "locked" | "owners" | "runtimes">,
  { name: wanted, person, ...draft }: Registration,
): Promise<Box> {
  return core.locked("", async () => {
    const { store, clock, ids, owners } = core.ports;
    const boxes = await store.listBoxes();
    const runtime = await core.ports.runtimes.get(draft.spec.runtime);
    const taken = new Set(boxes.map(({ name }) => name));
    const project = draft.projectDir?.split("/").at(-1);
    const name = wanted ?? proposeName(project, draft.spec.agent.name, (n) => taken.has(n));
    const nowMs = clock.nowMs();
    const box: Box = {
      name,
      incarnation: ids.random(),
      ...omitUndefined(draft),
      owner: allocateOwner(owners, boxes, runtime),
      state: { phase: "creating", sinceMs: nowMs },
      createdAtMs: nowMs,
      restarts: 0,
    };
    if (person !== undefined) await core.access.change((state) => withBoxOwner(state, box, person, boxes));
    const data = { agent: box.spec.agent.name, runtime: box.spec.runtime, projectDir: box.projectDir };
    await core.commit({ insert: box, events: [core.event("box.created", box, data)] });
    return box;
  });
}

/** Directories, workspace and, if asked for, the first start. What fails half-way is removed, and the name is free. */
async function provision(
  core: Using<StartParts | "access" | "caches" | "getBox" | "workspaces">,
  box: Box,
  { isStarted, isEphemeral, grants }: Required<Pick<Draft, "isStarted" | "isEphemeral" | "grants">>,
): Promise<{ made: Box; filled: PreparedWorkspace }> {
  const progress = { hasRun: false };
  let isFilled = false;
  try {
    const { storage } = core.ports;
    await grantToBox(core, box, grants);
    await storage.create(box.name, { owner: box.owner, diskBytes: box.spec.resources.diskBytes });
    const filling = fill(core, box).finally(() => (isFilled = true));
    // SECURITY: services run as soon as boxd does. Nothing of the box's may run while the host still writes there.
    // A mounted workspace is started with the git directory that is being made.
    const isMounted = box.spec.workspace.mode === "mount";
    const mayOverlap = isStarted && box.spec.services.length === 0 && !isMounted;
    const began = mayOverlap ? filling.then(beginning) : beginning(await filling);
    const made =
      began instanceof Promise
        ? bootWhile(core, box, began, progress)
        : isStarted
          ? boot(core, box, began, progress)
          : settle(core, { ...box, ...began });
    // Both are waited for, whichever fails first: what is still being written cannot be removed.
    const [madeOutcome] = await Promise.allSettled([made, filling]);
    const filled = await filling;
    if (madeOutcome.status === "rejected") throw madeOutcome.reason;
    return { made: madeOutcome.value, filled };
  } catch (error) {
    const isMade = isFilled && (await core.ports.store.findBox(box.name))?.state.phase === "failed";
    // A box that is whole and only did not start is kept, so that a person can look at it. There is nothing to look at
    // where nothing ran, and it was to be there for one command only, or can never be made as asked.
    const isUseless = !progress.hasRun && (isEphemeral || isRefusal(error));
    if (!isMade || isUseless || isWorkspaceError(error)) await eraseHalfMade(core, box.name);
    throw toAgentBoxError(error, "workspace.failed");
  }
}

async function fill(
  core: Using<"caches" | "reviews" | "storage" | "workspaces">,
  box: Box,
): Promise<PreparedWorkspace> {
  const { storage, workspaces, reviews, caches } = core.ports;
  if (box.spec.cache === "project" && box.projectDir !== undefined) {
    await caches.give({
      projectDir: box.projectDir,
      home: storage.dirs(box.name).home,
      owner: box.owner,
    });
  }
  const prepared = await workspaces.prepare({
    spec: box.spec.workspace,
    target: storage.dirs(box.name).workspace,
    owner: box.owner,
    box: box.name,
  });
  // No history says what a copy began with, so that is kept before anything runs in it.
  if (box.spec.workspace.mode === "copy") {
    await reviews.create({ dir: storage.reviewDir(box.name), files: storage.dirs(box.name).workspace });
  }
  await storage.seal(box.name);
  return prepared;
}

/** The facts of a box that are known only once its workspace exists. */
const beginning = ({ baseCommit }: PreparedWorkspace): Partial<Box> => omitUndefined({ baseCommit });

/** The runtime's no to what was asked for; it would say so again. */
const isRefusal = (error: unknown): boolean =>
  isAgentBoxError(error) &&
  ["box.name_taken", "image.not_found", "runtime.unsupported", "policy.unenforceable"].includes(error.code);

const isWorkspaceError = (error: unknown): boolean =>
  isAgentBoxError(error) && error.code.startsWith("workspace.");

async function eraseHalfMade(core: Using<RemoveParts | "getBox" | "report">, name: string): Promise<void> {
  try {
    await erase(core, await core.getBox(name), "half_made");
  } catch (error) {
    core.ports.report(
      { box: name, error: messageOf(error) },
      "cleaning up a box that could not be made failed",
    );
  }
}

async function settle(core: Using<"clock" | "commit" | "event">, box: Box): Promise<Box> {
  const stopped = moveTo(box, { phase: "stopped", sinceMs: core.ports.clock.nowMs(), reason: "created" });
  await core.commit({ update: stopped, events: [core.event("box.prepared", stopped)] });
  return stopped;
}
