import { createHash } from "node:crypto";
import { AgentBoxError, isAgentBoxError, messageOf, toAgentBoxError } from "../../base/errors.ts";
import { formatBytes } from "../../base/bytes.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { AgentEntry } from "../../contract/agent.ts";
import type { CreateBox, CreatedBox, StartRun } from "../../contract/api/schemas.ts";
import type { Box, BoxSpec, Isolation } from "../../contract/box.ts";
import { type Maker, ownerMaker, withBoxOwner } from "../team/members.ts";
import { allocateOwner } from "./allocate-owner.ts";
import { requireBrowserProject } from "../trust/own-places.ts";
import { proposeName, requireBoxName } from "./box-names.ts";
import { moveTo } from "./box-phases.ts";
import type { NetworkPolicy } from "../../contract/network/policy.ts";
import type { PreparedWorkspace } from "../../ports/workspace.ts";
import { isWeakerThanOwn } from "../plan/choose-runtime.ts";
import type { Core } from "../context.ts";
import { noteForeign, requireTrust } from "../trust/grant-trust.ts";
import type { ResolvePlaces } from "../trust/mount-requests.ts";
import { compileFor } from "../network/compile-for.ts";
import { readLayers } from "../manifest/read-layers.ts";
import { requireSupported } from "../plan/require-supported.ts";
import { erase } from "./remove-box.ts";
import { resolveManifest } from "../manifest/resolve-manifest.ts";
import { boot, bootWhile } from "../boot/start-box.ts";
import { takePrices } from "../budget/own-prices.ts";
import { firstRun } from "../agents/begin-run.ts";
import { getAgent } from "../agents/get-agent.ts";
import { useImage } from "../images/use-image.ts";
import { planCommand } from "../agents/plan-run.ts";
import { pinAgent } from "../agents/pin-agent.ts";

const minFreeBytes = 256 * 2 ** 20;

/** Makes a box from the layers of its manifest. Either it is there as asked, or nothing of it is. */
export async function createBox(
  core: Core,
  request: CreateBox,
  { person, isRequest, isInBrowser = false }: Maker = ownerMaker,
): Promise<CreatedBox> {
  const { ports } = core;
  // Before anybody is asked about trust.
  if (request.name !== undefined) requireBoxName(request.name);
  await ports.refreshAgents();
  const { places, warnings } = await noteForeign(core, () => readLayers(core, { ...request, isRequest }));
  takePrices(core, places.layers);
  const asked = resolveManifest({
    ...places,
    agents: ports.agents,
    hostEnv: (name) => (Object.hasOwn(request.variables ?? {}, name) ? request.variables![name] : undefined),
    defaultMode:
      places.projectDir === undefined ? "empty" : await ports.workspaces.defaultMode(places.projectDir),
  });
  if (isRequest && (await isWeakerThanOwn(ports.runtimes, places.layers, asked.runtime)))
    throw weakerThanOwn(core, asked.runtime, person);
  if (isInBrowser) await requireBrowserProject(core, places.projectDir, asked.workspace);
  await requireTrust(core, places, request.trust, { isInBrowser });
  const network = compileFor(places);
  ports.modelKeys.remember(asked.model, request.variables ?? {});
  const pinned = await noteForeign(core, () => pinAgent(core, asked, places.projectDir));
  const agent = getAgent(core, pinned.agent.name);
  const isolation = await requireEnforceable(core, pinned);
  await requireDisk(core);
  const manifestDigest = request.manifest && digestOf(request.manifest.text);
  const spec = await useImage(core, pinned, isolation, { projectDir: places.projectDir, manifestDigest });

  const run = agent.kind === "agent" || !request.main ? startRun(core, agent, request) : undefined;
  const main = run ? undefined : request.main && planCommand(core, { spec }, request.main);
  const {
    box,
    leftBehind,
    emptySubmodules = [],
  } = await raise(core, {
    spec,
    isolation,
    // What is cloned from elsewhere does not belong to the directory somebody happens to be in.
    projectDir: spec.workspace.url === undefined ? places.projectDir : undefined,
    name: request.name,
    main: main ?? (run && awaited(agent, request.run!)),
    run,
    network,
    manifestDigest,
    isStarted: request.start,
    isEphemeral: request.ephemeral,
    person,
  });
  const unexpected = [...unexpectedlyEmpty(places, spec), ...withoutSubmodules(box.name, emptySubmodules)];
  return { box, leftBehind, warnings: [...warnings, ...unexpected] };
}

function weakerThanOwn(core: Core, runtime: string, person: string | undefined): AgentBoxError {
  core.access.refused("authority", {
    route: "createBox",
    parameter: "flags.runtime",
    needs: "trust",
    id: person,
  });
  return new AgentBoxError(
    "access.forbidden",
    `The runtime "${runtime}" isolates less than the one in the owner's config.`,
    { hint: "This needs a yes at the command line: agentbox run --runtime NAME", facts: { runtime } },
  );
}

/** Makes a box from a specification that another box had, and that was agreed to then. */
export const raiseBox = async (core: Core, draft: Draft): Promise<Box> => (await raise(core, draft)).box;

async function raise(
  core: Core,
  { isStarted, isEphemeral = false, ...draft }: Draft,
): Promise<{ box: Box } & PreparedWorkspace> {
  const registered = await register(core, draft);
  return core.locked(registered.name, async () => {
    const { made, filled } = await furnish(core, registered, { isStarted, isEphemeral });
    return { box: made, ...filled };
  });
}

/** Planned anew at every start; until the first it only says how large the terminal is. */
const awaited = (agent: AgentEntry, { mode, cols, rows }: StartRun): Box["main"] => ({
  argv: [agent.name],
  env: {},
  terminal: mode === "interactive",
  cols,
  rows,
});

const startRun = (core: Core, agent: AgentEntry, { run }: CreateBox): Box["run"] =>
  run && firstRun(core, agent, run);

/** A project directory that is left out although nobody said so: the box would seem to have lost the files. */
function unexpectedlyEmpty({ projectDir, layers }: ResolvePlaces, { workspace }: BoxSpec): string[] {
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

const digestOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

interface Draft {
  readonly name: string | undefined;
  readonly spec: BoxSpec;
  readonly isolation: Isolation;
  readonly main: Box["main"] | undefined;
  readonly run: Box["run"] | undefined;
  readonly projectDir: string | undefined;
  readonly network: NetworkPolicy;
  readonly manifestDigest: string | undefined;
  readonly isStarted: boolean;
  /** Nobody asked for it to stay. */
  readonly isEphemeral?: boolean;
  /** Whose it is; absent: the owner's. */
  readonly person?: string | undefined;
}

type Registration = Omit<Draft, "isStarted" | "isEphemeral">;

/** Takes the name and the user. One at a time, because two boxes must not choose the same. */
function register(core: Core, { name: wanted, person, ...draft }: Registration): Promise<Box> {
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
async function furnish(
  core: Core,
  box: Box,
  { isStarted, isEphemeral }: { readonly isStarted: boolean; readonly isEphemeral: boolean },
): Promise<{ made: Box; filled: PreparedWorkspace }> {
  const progress = { hasRun: false };
  let isFilled = false;
  try {
    const { storage } = core.ports;
    await storage.create(box.name, { owner: box.owner, diskBytes: box.spec.resources.diskBytes });
    const filling = fill(core, box).finally(() => (isFilled = true));
    // SECURITY: services run as soon as boxd does. Nothing of the box's may run while the host still writes there.
    const mayOverlap = isStarted && box.spec.services.length === 0;
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
    // A box that is whole and only did not start is kept, so that somebody can look at it. There is nothing to look at
    // where nothing ran, and it was to be there for one command only, or can never be made as asked.
    const isUseless = !progress.hasRun && (isEphemeral || isRefusal(error));
    if (!isMade || isUseless || isWorkspaceError(error)) await eraseHalfMade(core, box.name);
    throw toAgentBoxError(error, "workspace.failed");
  }
}

async function fill(core: Core, box: Box): Promise<PreparedWorkspace> {
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

/** What is known about a box only once its workspace is there. */
const beginning = ({ baseCommit }: PreparedWorkspace): Partial<Box> =>
  baseCommit === undefined ? {} : { baseCommit };

/** The runtime's no to what was asked for; it would say so again. */
const isRefusal = (error: unknown): boolean =>
  isAgentBoxError(error) &&
  ["box.name_taken", "image.not_found", "runtime.unsupported", "policy.unenforceable"].includes(error.code);

const isWorkspaceError = (error: unknown): boolean =>
  isAgentBoxError(error) && error.code.startsWith("workspace.");

async function eraseHalfMade(core: Core, name: string): Promise<void> {
  try {
    await erase(core, await core.getBox(name), "half_made");
  } catch (error) {
    core.ports.report(
      { box: name, error: messageOf(error) },
      "cleaning up a box that could not be made failed",
    );
  }
}

async function settle(core: Core, box: Box): Promise<Box> {
  const stopped = moveTo(box, { phase: "stopped", sinceMs: core.ports.clock.nowMs(), reason: "created" });
  await core.commit({ update: stopped, events: [core.event("box.prepared", stopped)] });
  return stopped;
}

/** A limit that was asked for by name and cannot be held is refused; it is never quietly dropped. */
export async function requireEnforceable(core: Core, spec: BoxSpec): Promise<Isolation> {
  const { isolation, refusal } = await findEnforceable(core, spec);
  if (refusal === undefined) return isolation;
  const { limit, runtime, reason } = refusal.facts ?? {};
  await core.note("limit.refused", undefined, { limit, runtime, reason });
  throw refusal;
}

/** What the runtime would uphold, and its no to the first limit that it cannot; nothing is written down. */
export async function findEnforceable(
  core: Core,
  spec: BoxSpec,
): Promise<{ isolation: Isolation; refusal?: AgentBoxError }> {
  const runtime = await core.ports.runtimes.requireReady(spec.runtime);
  const { tier, guarantees } = runtime.isolation({ resources: spec.resources });
  requireSupported(spec, tier);
  const disk = await core.ports.storage.diskLimit();
  const all = [
    ...guarantees,
    {
      name: "disk limit",
      isEnforced: disk.canEnforce && spec.resources.diskBytes !== undefined,
      by: spec.resources.diskBytes === undefined && disk.canEnforce ? "no limit was asked for" : disk.by,
    },
  ];
  const isolation = { tier, guarantees: all };
  for (const limit of spec.resources.required) {
    const name = `${limit === "cpus" ? "cpu" : limit === "pids" ? "process" : limit} limit`;
    const guarantee = all.find((candidate) => candidate.name === name);
    if (guarantee?.isEnforced) continue;
    const refusal = new AgentBoxError(
      "policy.unenforceable",
      `The ${name} cannot be enforced here: ${guarantee?.by ?? "the runtime has none"}.`,
      {
        hint: `Remove resources.${limit}, or use a host or runtime that can (see agentbox doctor).`,
        facts: { limit, runtime: spec.runtime, reason: guarantee?.by },
      },
    );
    return { isolation, refusal };
  }
  return { isolation };
}

async function requireDisk(core: Core): Promise<void> {
  const freeBytes = await core.ports.storage.freeBytes();
  if (freeBytes >= minFreeBytes) return;
  throw new AgentBoxError("disk.low", `Only ${formatBytes(freeBytes)} are free where boxes are kept.`, {
    hint: "Free some disk space, or remove boxes you no longer need: agentbox prune",
    facts: { freeBytes },
  });
}
