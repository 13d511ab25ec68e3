import { createHash } from "node:crypto";
import { AgentBoxError, messageOf, toAgentBoxError } from "../base/errors.ts";
import { formatBytes } from "../base/bytes.ts";
import type { CreateBox, CreatedBox } from "../contract/api/schemas.ts";
import type { Box, BoxSpec, Isolation } from "../contract/box.ts";
import { allocateOwner } from "./allocate-owner.ts";
import { proposeName, requireBoxName } from "./box-names.ts";
import { moveTo } from "./box-phases.ts";
import type { NetworkPolicy } from "../contract/network/policy.ts";
import type { Core } from "./context.ts";
import { requireTrust } from "./grant-trust.ts";
import { compileFor } from "./network/compile-for.ts";
import { readLayers } from "./read-layers.ts";
import { erase } from "./remove-box.ts";
import { resolveManifest } from "./resolve-manifest.ts";
import { boot } from "./start-box.ts";
import { getAgent, sessionFor } from "./start-session.ts";

const minFreeBytes = 256 * 2 ** 20;

/** Makes a box from the layers of its manifest. Either it is there as asked, or nothing of it is. */
export async function createBox(core: Core, request: CreateBox): Promise<CreatedBox> {
  const { ports } = core;
  const { places, warnings } = await readLayers(core, request);
  const spec = resolveManifest({
    ...places,
    hostEnv: (name) => (Object.hasOwn(request.variables ?? {}, name) ? request.variables![name] : undefined),
    defaultMode:
      places.projectDir === undefined ? "empty" : await ports.workspaces.defaultMode(places.projectDir),
  });
  await requireTrust(core, places, request.trust);
  const network = compileFor(places);
  const agent = getAgent(core, spec.agent.name);
  const isolation = await requireEnforceable(core, spec);
  await requireDisk(core);

  const main = request.main && sessionFor(agent, spec.agent.args, request.main);
  const box = await register(core, {
    spec,
    isolation,
    projectDir: places.projectDir,
    name: request.name,
    main,
    network,
    manifestDigest: request.manifest && digestOf(request.manifest.text),
  });
  return core.locked(box.name, async () => {
    const leftBehind = await furnish(core, box);
    const made = request.start ? await boot(core, box) : await settle(core, box);
    return { box: made, leftBehind, warnings: [...warnings] };
  });
}

const digestOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

interface Draft {
  readonly name: string | undefined;
  readonly spec: BoxSpec;
  readonly isolation: Isolation;
  readonly main: Box["main"] | undefined;
  readonly projectDir: string | undefined;
  readonly network: NetworkPolicy;
  readonly manifestDigest: string | undefined;
}

/** Takes the name and the user. One at a time, because two boxes must not choose the same. */
function register(core: Core, { name: wanted, ...draft }: Draft): Promise<Box> {
  return core.locked("", async () => {
    const { store, clock, ids, owners } = core.ports;
    const boxes = await store.listBoxes();
    const taken = new Set(boxes.map(({ name }) => name));
    const project = draft.projectDir?.split("/").at(-1);
    const name = wanted
      ? requireBoxName(wanted)
      : proposeName(project, draft.spec.agent.name, (n) => taken.has(n));
    const nowMs = clock.nowMs();
    const box: Box = {
      name,
      incarnation: ids.random(),
      ...withoutUndefined(draft),
      owner: allocateOwner(owners, boxes),
      state: { phase: "creating", sinceMs: nowMs },
      createdAtMs: nowMs,
      restarts: 0,
    };
    const data = { agent: box.spec.agent.name, runtime: box.spec.runtime, projectDir: box.projectDir };
    await core.commit({ insert: box, events: [core.event("box.created", box, data)] });
    return box;
  });
}

const withoutUndefined = ({
  spec,
  isolation,
  network,
  main,
  projectDir,
  manifestDigest,
}: Omit<Draft, "name">) => ({
  spec,
  isolation,
  network,
  ...(main === undefined ? {} : { main }),
  ...(projectDir === undefined ? {} : { projectDir }),
  ...(manifestDigest === undefined ? {} : { manifestDigest }),
});

/** Directories and workspace. What fails half-way is removed again, and the name is free. */
async function furnish(core: Core, box: Box): Promise<number> {
  const { storage, workspaces } = core.ports;
  try {
    const dirs = await storage.create(box.name, {
      owner: box.owner,
      diskBytes: box.spec.resources.diskBytes,
    });
    const { leftBehind } = await workspaces.prepare({
      spec: box.spec.workspace,
      target: dirs.workspace,
      owner: box.owner,
      box: box.name,
    });
    return leftBehind;
  } catch (error) {
    await erase(core, box, "half_made").catch((cleanup: unknown) => {
      core.ports.report(
        { box: box.name, error: messageOf(cleanup) },
        "cleaning up a box that could not be made failed",
      );
    });
    throw toAgentBoxError(error, "workspace.failed");
  }
}

async function settle(core: Core, box: Box): Promise<Box> {
  const stopped = moveTo(box, { phase: "stopped", sinceMs: core.ports.clock.nowMs(), reason: "created" });
  await core.commit({ update: stopped, events: [core.event("box.prepared", stopped)] });
  return stopped;
}

/** A limit that was asked for by name and cannot be held is refused; it is never quietly dropped. */
async function requireEnforceable(core: Core, spec: BoxSpec): Promise<Isolation> {
  const runtime = await core.ports.runtimes.requireReady(spec.runtime);
  const { tier, guarantees } = runtime.isolation({ resources: spec.resources });
  const disk = core.ports.storage.diskLimit();
  const all = [
    ...guarantees,
    {
      name: "disk limit",
      isEnforced: disk.canEnforce && spec.resources.diskBytes !== undefined,
      by: spec.resources.diskBytes === undefined && disk.canEnforce ? "no limit was asked for" : disk.by,
    },
  ];
  for (const limit of spec.resources.required) {
    const name = `${limit === "cpus" ? "cpu" : limit === "pids" ? "process" : limit} limit`;
    const guarantee = all.find((candidate) => candidate.name === name);
    if (guarantee?.isEnforced) continue;
    await core.note("limit.refused", undefined, { limit, runtime: spec.runtime, reason: guarantee?.by });
    throw new AgentBoxError(
      "policy.unenforceable",
      `The ${name} cannot be enforced here: ${guarantee?.by ?? "the runtime has none"}.`,
      {
        hint: `Remove resources.${limit}, or use a host or runtime that can (see agentbox doctor).`,
        facts: { limit, runtime: spec.runtime },
      },
    );
  }
  return { tier, guarantees: all };
}

async function requireDisk(core: Core): Promise<void> {
  const freeBytes = await core.ports.storage.freeBytes();
  if (freeBytes >= minFreeBytes) return;
  throw new AgentBoxError("disk.low", `Only ${formatBytes(freeBytes)} are free where boxes are kept.`, {
    hint: "Free some disk space, or remove boxes you no longer need: agentbox prune",
    facts: { freeBytes },
  });
}
