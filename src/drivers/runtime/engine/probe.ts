/** Says whether an engine can make boxes here, by making one with every setting of a real start. */
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAgentBoxError, messageOf } from "../../../base/errors.ts";
import { ensureDirectory, removeTree } from "../../../host/files.ts";
import { type Engine, type EngineOptions, openEngine } from "../../../host/engine/index.ts";
import type { EngineFacts } from "../../../host/engine/facts.ts";
import { type Boundary, containerBoundary, tierOf } from "./guarantees.ts";
import type { Runtime, RuntimeBox, RuntimeProbe, RuntimeStatus } from "../../../ports/runtime.ts";

export interface EngineProblem {
  readonly reason: string;
  readonly hint: string;
}

/** The checks of a trial box beyond starting, for a boundary that may lack a part that every container has. */
export interface Trial {
  /** Run by Node in boxd's place, with a listener on the link; says on stderr which part is missing. */
  readonly script: string;
  /** How to set the boundary up. */
  readonly hint: string;
}

interface BoundaryNeeds {
  /** Another OCI runtime than the engine's own. */
  readonly ociRuntime?: string | undefined;
  readonly trial?: Trial | undefined;
  readonly boundary?: Boundary | undefined;
}

type Open = (engine: Engine, boxesDir: string) => Promise<Runtime>;

const trialTimeoutMs = 20_000;
/** A root daemon tries with the user that owns nothing. */
const nobody = { uid: 65_534, gid: 65_534 };

/**
 * For an engine that no socket of this host leads to. Its address does not say where it really is: a box of it either
 * sees files that were just made here and reaches a listener here, or it does not.
 */
const farTrial: Trial = {
  script: `
require("node:net").connect("/run/agentbox/link.sock").on("connect", () => process.exit(0)).on("error", (error) => {
  process.stderr.write("it cannot reach a socket of this host: " + error.code + "\\n", () => process.exit(1));
});
`,
  hint: "Run AgentBox on the engine's own host, or use an engine of this one: AGENTBOX_ENGINE=unix:///var/run/docker.sock",
};

/** The reason why no box can be made at this engine; undefined when boxes can. Pure. */
export function engineProblem(
  facts: EngineFacts,
  { ociRuntime, trial }: BoundaryNeeds = {},
): EngineProblem | undefined {
  if (!facts.hasSeccomp)
    return {
      reason: "The container engine cannot filter system calls (no seccomp).",
      hint: "Use an engine and a kernel with seccomp; every distribution's own has it.",
    };
  const unmapped = facts.kind === "docker" && facts.hasUserNamespaces ? mapProblem(facts) : undefined;
  if (unmapped !== undefined) return unmapped;
  if (ociRuntime !== undefined && !facts.ociRuntimes.includes(ociRuntime))
    return {
      reason: `The container engine knows no runtime named ${ociRuntime}.`,
      hint: trial?.hint ?? `Register ${ociRuntime} in /etc/docker/daemon.json and restart the engine.`,
    };
  return undefined;
}

/** A box's files belong to its user on this host. Who that is inside must be known, and must not be root. */
function mapProblem({ isRootless, mappedFrom }: EngineFacts): EngineProblem | undefined {
  if (isRootless)
    return {
      reason:
        "In a rootless Docker only root of a container owns your files, and a box is never root, not even there",
      hint: "Use rootless Podman, which maps your own user into the box: apt-get install podman uidmap",
    };
  if (mappedFrom === undefined)
    return {
      reason:
        "This Docker maps users and groups to different numbers, and a box's user would not own its files",
      hint: "Let the range of userns-remap begin with the same number in /etc/subuid and /etc/subgid.",
    };
  if (process.getuid?.() === 0) return undefined;
  return {
    reason:
      "This Docker maps users (userns-remap), and only root can give files to the users of its containers",
    hint: "Run the daemon as root, or use rootless Podman.",
  };
}

export async function probeEngine(options: EngineOptions & BoundaryNeeds, open: Open): Promise<RuntimeProbe> {
  let engine: Engine;
  try {
    engine = await openEngine(options);
  } catch (error) {
    const status = isAgentBoxError(error, "runtime.absent") ? "absent" : "broken";
    const hint = isAgentBoxError(error) ? (error.hint ?? "") : "Run: agentbox doctor";
    return {
      status,
      reason: messageOf(error),
      fix: { hint, packages: status === "absent" ? ["podman"] : [] },
    };
  }
  const { ociRuntime } = options;
  const isFar = engine.address.socketPath === undefined;
  const trial = options.trial ?? (isFar ? farTrial : undefined);
  const problem = engineProblem(engine.facts, options) ?? (await tryBox(engine, open, trial));
  if (problem !== undefined) {
    const isUnknown = ociRuntime !== undefined && !engine.facts.ociRuntimes.includes(ociRuntime);
    const fix = { hint: problem.hint, packages: [] };
    return { status: isUnknown ? "absent" : "broken", reason: problem.reason, fix };
  }
  const { kind, version, isRootless } = engine.facts;
  const tier = tierOf(engine.facts, options.boundary ?? containerBoundary);
  return {
    status: "ready",
    version,
    detail: `${isRootless ? "rootless " : ""}${kind} ${version} at ${engine.address.url}, tier ${tier}, proven by starting a box`,
  };
}

async function tryBox(engine: Engine, open: Open, trial?: Trial): Promise<EngineProblem | undefined> {
  const root = await mkdtemp(join(tmpdir(), "agentbox-probe-"));
  try {
    // The box's user passes through; nothing in here is worth reading.
    await chmod(root, 0o755);
    await using runtime = await open(engine, join(root, "boxes"));
    const box = await trialBox(root, engine.facts, trial);
    await using _link = await listenOnLink(box);
    try {
      const { exitCode, diagnostics } = await untilEnded(runtime, await runtime.start(box));
      return exitCode === 0
        ? undefined
        : trialFailed(engine, diagnostics ?? `it ended with ${exitCode}`, trial);
    } finally {
      await runtime.remove(box.name);
    }
  } catch (error) {
    return trialFailed(engine, messageOf(error), trial);
  } finally {
    await removeTree(root);
  }
}

async function untilEnded(runtime: Runtime, started: RuntimeStatus): Promise<RuntimeStatus> {
  const deadline = performance.now() + trialTimeoutMs;
  for (let now = started; performance.now() < deadline; ) {
    if (now.phase === "stopped") return now;
    await delay(5);
    now = (await runtime.find(started.name)) ?? now;
  }
  return { ...started, diagnostics: "it did not end in time" };
}

const trialFailed = ({ address }: Engine, reason: string, trial?: Trial): EngineProblem => ({
  reason:
    address.socketPath === undefined
      ? `A trial box at ${address.url} did not start, or found nothing of this host there: ${reason}`
      : `A trial box did not start: ${reason}`,
  hint: trial?.hint ?? "Look at the engine's own log: journalctl -u docker, or: podman info",
});

async function listenOnLink({ dirs }: RuntimeBox): Promise<AsyncDisposable> {
  const path = join(dirs.link, "link.sock");
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  // The box's user connects; no data is sent to it.
  await chmod(path, 0o666);
  return {
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function trialBox(root: string, { mappedFrom }: EngineFacts, trial?: Trial): Promise<RuntimeBox> {
  const uid = process.getuid?.() ?? 0;
  const stranger = { uid: nobody.uid + (mappedFrom ?? 0), gid: nobody.gid + (mappedFrom ?? 0) };
  const owner = uid === 0 ? stranger : { uid, gid: process.getgid?.() ?? uid };
  // A name of its own each time: a trial that was cut off must not stand in the way of every later one.
  const name = `probe-${randomBytes(4).toString("hex")}`;
  const at = (part: string): string => join(root, "boxes", name, part);
  const dirs = { runtime: at("runtime"), link: at("link"), home: at("home"), workspace: at("workspace") };
  for (const path of Object.values(dirs))
    await ensureDirectory(path, { mode: path === dirs.runtime ? 0o700 : 0o755 });
  const script = join(dirs.home, "boxd.js");
  await writeFile(script, trial?.script ?? "");
  // The box's user must be able to read it, under any umask of the daemon.
  await chmod(script, 0o644);
  // Stand-ins: whether Node itself can be reached is for each start to say.
  const tools = { node: trial === undefined ? "/bin/true" : process.execPath, boxd: dirs.home };
  return { name, owner, dirs, tools, mounts: [], resources: { required: [] } };
}
