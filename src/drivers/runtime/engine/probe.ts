/** Says whether an engine can make boxes here, by making one with every setting of a real start. */
import { chmod, mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAgentBoxError, messageOf } from "../../../base/errors.ts";
import { ensureDirectory, removeTree } from "../../../host/files.ts";
import { type Engine, type EngineOptions, openEngine } from "../../../host/engine/index.ts";
import type { Runtime, RuntimeBox, RuntimeProbe, RuntimeStatus } from "../../../ports/runtime.ts";

export interface EngineProblem {
  readonly reason: string;
  readonly hint: string;
}

/** What a trial box does beyond starting, for a boundary that may lack what every container has. */
export interface Trial {
  /** Run by Node in boxd's place, with somebody listening on the link; says on stderr what is missing. */
  readonly script: string;
  /** How to set the boundary up. */
  readonly hint: string;
}

type Open = (engine: Engine, boxesDir: string) => Promise<Runtime>;

const trialTimeoutMs = 20_000;
/** A root daemon tries with the user that owns nothing. */
const nobody = { uid: 65_534, gid: 65_534 };

/** Why boxes cannot be made at this engine, whatever the box; undefined when they can. Pure. */
export function engineProblem({ address, facts }: Engine, ociRuntime?: string): EngineProblem | undefined {
  if (address.socketPath === undefined)
    return {
      reason: `The container engine at ${address.url} is on another host, where this host's files and sockets are not.`,
      hint: "Use an engine of this host (AGENTBOX_ENGINE=unix:///var/run/docker.sock), or run AgentBox over there.",
    };
  if (!facts.hasSeccomp)
    return {
      reason: "The container engine cannot filter system calls (no seccomp).",
      hint: "Use an engine and a kernel with seccomp; every distribution's own has it.",
    };
  if (facts.kind === "docker" && facts.hasUserNamespaces)
    return {
      reason: "This Docker maps users, and a box's user would not own the box's files.",
      hint: "Use rootless Podman, which maps the box's user to yours, or Docker without userns-remap.",
    };
  if (ociRuntime !== undefined && !facts.ociRuntimes.includes(ociRuntime))
    return {
      reason: `The container engine knows no runtime named ${ociRuntime}.`,
      hint: `Register ${ociRuntime} in /etc/docker/daemon.json and restart the engine.`,
    };
  return undefined;
}

export async function probeEngine(
  options: EngineOptions & { readonly ociRuntime?: string | undefined; readonly trial?: Trial | undefined },
  open: Open,
): Promise<RuntimeProbe> {
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
  const { ociRuntime, trial } = options;
  const problem = engineProblem(engine, ociRuntime) ?? (await tryBox(engine, open, trial));
  if (problem !== undefined) {
    const isUnknown = ociRuntime !== undefined && !engine.facts.ociRuntimes.includes(ociRuntime);
    const fix = { hint: trial?.hint ?? problem.hint, packages: [] };
    return { status: isUnknown ? "absent" : "broken", reason: problem.reason, fix };
  }
  const { kind, version, isRootless } = engine.facts;
  return {
    status: "ready",
    version,
    detail: `${isRootless ? "rootless " : ""}${kind} ${version} at ${engine.address.url}, proven by starting a box`,
  };
}

async function tryBox(engine: Engine, open: Open, trial?: Trial): Promise<EngineProblem | undefined> {
  const root = await mkdtemp(join(tmpdir(), "agentbox-probe-"));
  try {
    // The box's user passes through; nothing in here is worth reading.
    await chmod(root, 0o755);
    await using runtime = await open(engine, join(root, "boxes"));
    const box = await trialBox(root, trial);
    await using _link = await listenOnLink(box);
    try {
      const { exitCode, diagnostics } = await untilEnded(runtime, await runtime.start(box));
      return exitCode === 0 ? undefined : trialFailed(diagnostics ?? `it ended with ${exitCode}`);
    } finally {
      await runtime.remove(box.name);
    }
  } catch (error) {
    return trialFailed(messageOf(error));
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

const trialFailed = (said: string): EngineProblem => ({
  reason: `A trial box did not start: ${said}`,
  hint: "Look at the engine's own log: journalctl -u docker, or: podman info",
});

async function listenOnLink({ dirs }: RuntimeBox): Promise<AsyncDisposable> {
  const path = join(dirs.link, "link.sock");
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  // The box's user connects; nothing is said to it.
  await chmod(path, 0o666);
  return {
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function trialBox(root: string, trial?: Trial): Promise<RuntimeBox> {
  const uid = process.getuid?.() ?? 0;
  const owner = uid === 0 ? nobody : { uid, gid: process.getgid?.() ?? uid };
  const at = (part: string): string => join(root, "boxes", "probe", part);
  const dirs = { runtime: at("runtime"), link: at("link"), home: at("home"), workspace: at("workspace") };
  for (const path of Object.values(dirs))
    await ensureDirectory(path, { mode: path === dirs.runtime ? 0o700 : 0o755 });
  const script = join(dirs.home, "boxd.js");
  await writeFile(script, trial?.script ?? "");
  // Whatever the daemon's umask is, the box's user reads it.
  await chmod(script, 0o644);
  // Stand-ins: whether Node itself can be reached is for each start to say.
  const tools = { node: trial === undefined ? "/bin/true" : process.execPath, boxd: dirs.home };
  return { name: "probe", owner, dirs, tools, mounts: [], resources: { required: [] } };
}
