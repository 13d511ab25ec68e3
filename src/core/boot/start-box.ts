import { AgentBoxError, isAgentBoxError, messageOf } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { type Box, boxPaths } from "../../contract/box.ts";
import { guardOf } from "../../contract/guarded-paths.ts";
import { type BoxdConfig, linkProtocol, type SessionStatus } from "../../contract/link/messages.ts";
import type { BoxLink } from "../../ports/link.ts";
import type { BoxTools, RuntimeBox } from "../../ports/runtime.ts";
import { type AgentTool, boxTools, pathOf, planRun, toolOf } from "../agents/plan-run.ts";
import { moveTo } from "../box/box-phases.ts";
import type {
  AdoptParts,
  CloseParts,
  HaltParts,
  LaunchParts,
  OutputParts,
  RunParts,
  StartParts,
  Using,
} from "../using.ts";
import { effectivePolicy, gateBox, portsOf } from "../network/apply-policy.ts";
import { keptBytes } from "../resources/kept-bytes.ts";
import { promisedArtifacts } from "./promised-artifacts.ts";
import { closeRecorded, recordOutput } from "../exec/record-output.ts";
import { setSecrets } from "../secrets/apply-secrets.ts";
import { giveHeld, awaitsValues } from "../secrets/give-held.ts";
import { requireWhole, servicesSettled } from "./seal-boot.ts";
import { takeQuietly } from "../review/checkpoint-over-link.ts";
import { execInBox, lastLine } from "../exec/exec-in-box.ts";

const timeoutMs = 30 * 60_000;

/**
 * Constant; the address is an argument. A box that was stopped half-way begins again; one that was made from a
 * checkpoint has all of it already.
 */
const script = `
cd ${boxPaths.workspace} || exit
if GIT_DIR=.git git rev-parse -q --verify refs/agentbox/restored >/dev/null 2>&1; then exit 0; fi
find . -mindepth 1 -delete && exec git clone --quiet --no-hardlinks -- "$1" .
`;

/** Git in the box fetches the repository, so that its host is judged by the box's policy like any other. */
async function cloneInside({ name }: Box, link: BoxLink, url: string): Promise<void> {
  const argv = ["/bin/sh", "-c", script, "clone", url];
  const { code, output } = await execInBox(link, { argv, env: { GIT_TERMINAL_PROMPT: "0" }, timeoutMs });
  if (code === 0) return;
  const why = printable(lastLine(output)).slice(0, 300);
  throw new AgentBoxError(
    "workspace.failed",
    `${url} could not be cloned in the box: ${why || "git gave no reason"}.`,
    {
      hint: `See what was refused: agentbox events --box ${name} --type egress.denied; allow the host with --allow HOST.`,
    },
  );
}

const bootTimeoutMs = 20_000;

/** Starts a stopped box; a running one is left as it is. */
export function startBox(core: Using<StartParts | "getBox">, name: string): Promise<Box> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    if (box.state.phase === "running") return box;
    return boot(core, box);
  });
}

/** How far a start has come, for callers that must know what a failed one may have left in the box's files. */
export interface StartProgress {
  /** Something of the box's own may have run: a service, or what the box was made for. */
  hasRun: boolean;
}

/** The caller holds the box's lock. A box that does not come up ends as `failed`, with nothing left running. */
export async function boot(
  core: Using<StartParts>,
  box: Box,
  extra: Partial<Box> = {},
  progress?: StartProgress,
): Promise<Box> {
  const starting = await becomeStarting(core, { ...box, ...extra });
  return orAbandon(core, starting, async () =>
    becomeRunning(core, starting, await launch(core, starting, { progress }), "box.started", progress),
  );
}

/**
 * Boots a new box while its workspace is being filled. It stays `creating` until that is done, so that a crash in
 * between leaves something half-made, which the next daemon removes. Nothing of the agent's runs before.
 */
export function bootWhile(
  core: Using<StartParts>,
  box: Box,
  filling: Promise<Partial<Box>>,
  progress?: StartProgress,
): Promise<Box> {
  return orAbandon(core, box, async () => {
    const [link, began] = await Promise.all([launch(core, box, { progress }), filling]);
    const starting = await becomeStarting(core, { ...box, ...began });
    return becomeRunning(core, starting, link, "box.started", progress);
  });
}

async function becomeStarting(core: Using<"clock" | "commit" | "event">, box: Box): Promise<Box> {
  const starting = moveTo(box, { phase: "starting", sinceMs: core.ports.clock.nowMs() });
  await core.commit({ update: starting, events: [core.event("box.starting", starting)] });
  return starting;
}

/** From nothing to a boxd that has dialed in. */
async function launch(
  core: Using<LaunchParts>,
  box: Box,
  { isMaintenance = false, progress }: { isMaintenance?: boolean; progress?: StartProgress | undefined } = {},
): Promise<BoxLink> {
  const { ports } = core;
  const runtime = await ports.runtimes.requireReady(box.spec.runtime);
  await ports.storage.ensure(box.name, { diskBytes: box.spec.resources.diskBytes });
  if (!isMaintenance) await ports.logs.startRun(box.name);
  // Verified before anything runs: a program that was changed on disk never starts.
  const tool = await toolOf(core, box);
  const link = await openLink(core, box, tool);
  await core.boots.run(async () => {
    await runtime.start(runtimeBox(core, box, boxTools(core, box, tool)));
    // boxd starts services at once, unless it waits for secrets that the box holds.
    if (progress && box.spec.services.length > 0 && !awaitsValues(box)) progress.hasRun = true;
    core.background("noting boot.started", core.note("boot.started", box, { runtime: runtime.name }));
    await waitForBoxd(core, box, link);
  });
  await requireWhole(core, box, link, tool.program);
  return link;
}

/**
 * Boots a stopped box without its agent and services and without the secrets it holds, for the host itself. The
 * caller holds the lock and ends it.
 */
export function launchQuietly(core: Using<LaunchParts>, box: Box): Promise<BoxLink> {
  const { run: _run, main: _main, ...rest } = box;
  return launch(core, { ...rest, spec: { ...box.spec, services: [], mcp: [] } }, { isMaintenance: true });
}

async function orAbandon(
  core: Using<HaltParts | "store">,
  box: Box,
  start: () => Promise<Box>,
): Promise<Box> {
  try {
    return await start();
  } catch (error) {
    await abandon(core, (await core.ports.store.findBox(box.name)) ?? box, error);
    throw isAgentBoxError(error)
      ? error
      : new AgentBoxError("box.start_failed", `The box "${box.name}" did not come up: ${messageOf(error)}.`, {
          hint: "Look at: agentbox doctor",
          cause: error,
        });
  }
}

/** Connects to a box that a daemon before this one has started. */
export async function adopt(core: Using<AdoptParts>, box: Box, isPaused: boolean): Promise<void> {
  const isUp = isPaused || box.state.phase === "running";
  const link = await openLink(core, box, isUp ? noTool : await toolOf(core, box));
  if (isPaused) {
    link.setPaused(true);
    await core.note("box.adopted", box, { phase: "paused" });
    return;
  }
  if (box.state.phase === "running") {
    await core.note("box.adopted", box, { phase: "running" });
    core.agentWatch.begin(box);
    return;
  }
  await waitForBoxd(core, box, link);
  await requireWhole(core, box, link, core.live.get(box.name)?.program ?? "");
  await becomeRunning(core, box, link, "box.adopted");
}

/** The box as the runtime is asked to make it. */
export function runtimeBox(core: Using<"gate" | "storage">, box: Box, tools: BoxTools): RuntimeBox {
  const dirs = core.ports.storage.dirs(box.name);
  const { workspace } = box.spec;
  // A mounted workspace is the host's directory itself, in place of the private one.
  const mounted = workspace.mode === "mount" ? workspace.source : undefined;
  return {
    name: box.name,
    owner: box.owner,
    dirs: mounted === undefined ? dirs : { ...dirs, workspace: mounted },
    guarded: guardOf(box, dirs.workspace),
    tools,
    mounts: box.spec.mounts,
    toolchains: box.spec.toolchains?.flatMap(({ directories }) => directories),
    resources: box.spec.resources,
    git: box.spec.person?.git,
    image: box.spec.image,
    exceptions: box.spec.exceptions,
    files: core.ports.gate.trustFiles,
  };
}

/** The box runs already; what became of its agent's files meanwhile is for its next start to judge. */
const noTool: AgentTool = { program: "", agents: {} };

async function openLink(
  core: Using<
    | CloseParts
    | "clock"
    | "eventBytes"
    | "links"
    | "logRates"
    | "logs"
    | "noteFromBox"
    | "reactions"
    | "storage"
    | "store"
    | "toolchains"
  >,
  box: Box,
  tool: AgentTool,
): Promise<BoxLink> {
  await closeLink(core, box.name);
  const { ports } = core;
  const policy = await effectivePolicy(core, box);
  // Before the box can dial: a connection that finds no policy is refused.
  setSecrets(core, box);
  ports.gate.setPolicy(gateBox(box), policy);
  if (box.spec.model) ports.models.setBox(gateBox(box), box.spec.model);
  const sshAgent = await sshAgentOf(core, box);
  const { toolchains = [], image } = box.spec;
  const systemPath = image === undefined ? await ports.toolchains.systemPath() : [];
  const link = await ports.links.listen({
    linkDir: ports.storage.dirs(box.name).link,
    owner: box.owner,
    config: {
      protocol: linkProtocol,
      box: box.name,
      hostname: box.name,
      workspace: boxPaths.workspace,
      env: {
        AGENTBOX_SYSTEM: systemKind(box.spec),
        ...ports.gate.boxEnv,
        ...ports.injection.placeholders(gateBox(box), box.spec.secrets),
        ...(sshAgent && { SSH_AUTH_SOCK: sshAgent.socket }),
        ...Object.assign({}, ...toolchains.map(({ env }) => env)),
        ...box.spec.person?.env,
        ...box.spec.env,
      },
      toolchainPath: [...toolchains.flatMap(({ path }) => path), ...systemPath],
      path: pathOf(tool),
      services: box.spec.services,
      artifacts: promisedArtifacts(box, tool.program),
      awaitsSecrets: awaitsValues(box),
      network: { ports: portsOf(policy) },
      sshAgent,
    },
    listener: {
      connected: (boot, isReconnect) => core.noteFromBox("link.connected", box, { boot, isReconnect }),
      lost: () => core.reactions.lost(box),
      violated: (reason) => core.noteFromBox("link.violated", box, { reason: printable(reason) }),
      gate: (connection) => ports.gate.serve(box.name, connection),
      health: (health) => core.reactions.health(box, health),
      sessionEnded: (session) => core.reactions.sessionEnded(box, session),
      serviceChanged: (service) => core.reactions.serviceChanged(box, service),
    },
  });
  ports.logs.setLimit(box.name, keptBytes(box.spec.resources.diskBytes).logs);
  core.eventBytes.open(box);
  core.live.set(box.name, {
    link,
    incarnation: box.incarnation,
    program: tool.program,
    healthAtMs: ports.clock.monotonicMs(),
    recording: new Map(),
    sources: new Set(["main", ...(await ports.logs.sources(box.name))]),
    logRate: core.logRates.open(),
  });
  return link;
}

/** For `apt-get` and `sudo` in the box, which say what to do instead. */
const systemKind = ({ image, packages }: Box["spec"]): "host" | "packages" | "image" =>
  image === undefined ? "host" : packages === undefined ? "image" : "packages";

/** The settings that boxd needs so that ssh works in a box with keys to use, as on a machine that has them. */
async function sshAgentOf({ ports }: Using<"sshKeys">, { spec }: Box): Promise<BoxdConfig["sshAgent"]> {
  const bindings = spec.secrets.filter(({ use }) => use.kind === "ssh");
  if (bindings.length === 0) return undefined;
  return { socket: boxPaths.sshAgent, knownHosts: await ports.sshKeys.knownHosts(bindings) };
}

export async function closeLink(core: Using<CloseParts>, name: string): Promise<void> {
  const live = core.live.get(name);
  core.live.delete(name);
  core.ports.gate.drop(name);
  core.ports.models.drop(name);
  core.ports.injection.drop(name);
  core.ports.sshKeys.drop(name);
  core.agentWatch.end(name);
  if (live) await closeRecorded(live);
}

/** boxd must dial in; when the box ends before it does, the runtime's last words say why. */
async function waitForBoxd(core: Using<"runtimes">, box: Box, link: BoxLink): Promise<void> {
  const runtime = await core.ports.runtimes.get(box.spec.runtime);
  let stopListening = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    stopListening = runtime.onEnd((status) => {
      if (status.name !== box.name) return;
      const lastLines = printable((status.diagnostics ?? "").trim().split("\n").slice(-3).join("; "));
      reject(
        new AgentBoxError(
          "box.start_failed",
          `The box "${box.name}" ended while it was starting${lastLines ? `: ${lastLines}` : ""}.`,
          {
            hint: "Check the runtime: agentbox doctor",
          },
        ),
      );
    });
  });
  try {
    await Promise.race([link.waitConnected(bootTimeoutMs), ended]);
  } finally {
    stopListening();
  }
}

async function becomeRunning(
  core: Using<RunParts>,
  box: Box,
  link: BoxLink,
  type: "box.started" | "box.adopted",
  progress?: StartProgress,
): Promise<Box> {
  // A boot that a daemon before this one has sealed lacks only its record.
  const isSealed = type === "box.adopted" && (await link.health()).isSealed;
  if (!isSealed) await giveHeld(core, box, link);
  if (progress && box.spec.services.length > 0) progress.hasRun = true;
  if (box.spec.services.length > 0) await servicesSettled(core, box, link);
  // Files that were carried in are the person's own work, and not the box's later one.
  const isFirst = box.startedAtMs === undefined;
  const { carry, url } = box.spec.workspace;
  if (isFirst && url !== undefined) await cloneInside(box, link, url);
  if (isFirst && (carry === "dirty" || url !== undefined)) await takeQuietly(core, box, link, "base");
  const { sessions } = await link.seal();
  if (progress) progress.hasRun = true;
  const sealed = core.event("boot.sealed", box, { services: box.spec.services.map(({ name }) => name) });
  const nowMs = core.ports.clock.nowMs();
  const started = { ...box, startedAtMs: nowMs, expiresAtMs: nowMs + box.spec.lifecycle.ttlMs };
  const running = moveTo(await startMain(core, started, link, sessions), {
    phase: "running",
    sinceMs: nowMs,
  });
  await core.commit({ update: running, events: [sealed, core.event(type, running)] });
  listenToMain(core, running);
  return running;
}

/** Starts what the box was made for, unless a daemon before this one did. */
async function startMain(
  core: Using<"agentProblems" | "agents" | "conversations" | "live" | "store">,
  box: Box,
  link: BoxLink,
  sessions: readonly SessionStatus[],
): Promise<Box> {
  if (!box.main && !box.run) return box;
  const isThere = sessions.some((session) => session.id === "main");
  if (!box.run) {
    if (!isThere) await link.startSession("main", box.main!);
    return box;
  }
  if (isThere && box.main) return { ...box, run: { ...box.run, starts: Math.max(1, box.run.starts) } };
  const { main, more } = await planRun(core, box, core.live.get(box.name)?.program ?? "");
  if (box.run.task !== undefined && box.run.starts === 0)
    core.conversations.asked(box, box.run.task, box.run.from);
  await link.startSession("main", main, more);
  return { ...box, main, run: { ...box.run, starts: box.run.starts + 1 } };
}

/** Records what the main session prints, and understands what its agent reports. */
function listenToMain(core: Using<OutputParts>, box: Box): void {
  if (!box.main) return;
  core.agentWatch.begin(box);
  recordOutput(core, box, "main");
  if (box.run && core.ports.agents[box.spec.agent.name]?.readHooks) recordOutput(core, box, "hooks");
}

/** SECURITY: a start that failed half-way leaves no unwatched process behind. */
async function abandon(core: Using<HaltParts>, box: Box, error: unknown): Promise<void> {
  await closeLink(core, box.name);
  try {
    await (await core.ports.runtimes.get(box.spec.runtime)).remove(box.name);
  } catch (cleanupError) {
    core.ports.report({ box: box.name, error: messageOf(cleanupError) }, "cleaning up a failed start failed");
  }
  const message = printable(messageOf(error));
  const failed = moveTo(box, { phase: "failed", sinceMs: core.ports.clock.nowMs(), message });
  await core.commit({ update: failed, events: [core.event("box.failed", failed, { message })] });
}
