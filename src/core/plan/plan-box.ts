/**
 * One plan for a box: layers, specification, trust, agent, isolation, key, image and command, in one step that changes
 * nothing. Every refusal is a value, and each step is tried even if an earlier one refuses, so that all of them are
 * told at once and before anything of the box exists.
 */
import { createHash } from "node:crypto";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { formatBytes } from "../../base/bytes.ts";
import type { AgentEntry } from "../../contract/agent.ts";
import type { PlannedCommand } from "../../contract/api/schemas/planned-command.ts";
import type { BoxSpec } from "../../contract/box.ts";
import { requireMode } from "../agents/begin-run.ts";
import { getAgent } from "../agents/get-agent.ts";
import { requireModelKey } from "../agents/find-model-key.ts";
import { pinAgent } from "../agents/pin-agent.ts";
import { launchCommand, planCommand } from "../agents/plan-run.ts";
import { requireBoxName } from "../box/box-names.ts";
import { isWeakerThanOwn } from "./choose-runtime.ts";
import type { PlanParts, Using } from "../using.ts";
import { decideTrust } from "../trust/grant-trust.ts";
import { pinnedBase } from "../images/image-recipe.ts";
import { useImage } from "../images/use-image.ts";
import { wantsImage } from "../images/wants-image.ts";
import { findToolchains, toolchainsOf } from "../toolchains/find-toolchains.ts";
import type { ManifestInputs } from "../trust/mount-requests.ts";
import { compileFor } from "../network/compile-for.ts";
import { requireBrowserMounts, requireBrowserProject } from "../trust/own-directories.ts";
import { tryLayers } from "../manifest/read-layers.ts";
import { tryManifest } from "../manifest/resolve-manifest.ts";
import { resolveProviders } from "../manifest/resolve-model.ts";
import type { BoxPlan, PlanInputs, PlanPorts, PlannedImage } from "./box-plan.ts";
import { findEnforceable } from "./find-enforceable.ts";
import { personSettings } from "./person-settings.ts";
import { Problems } from "./problems.ts";

const minFreeBytes = 256 * 2 ** 20;

/** The plan as this host makes it now. */
export async function planFor(core: Using<PlanParts>, inputs: PlanInputs): Promise<BoxPlan> {
  await core.ports.refreshAgents();
  return planBox(inputs, { ...core.ports, secretGrants: core.secretGrants });
}

export async function planBox(asked: PlanInputs, ports: PlanPorts): Promise<BoxPlan> {
  // SECURITY: who may only ask agrees to nothing, and the host's keys are not looked up for what they send.
  const inputs = asked.isRequest === true ? { ...asked, trust: undefined, variables: undefined } : asked;
  const problems = new Problems();
  const isBox = inputs.makes === "box";
  if (isBox) await problems.attempt(() => requireFreeName(ports, inputs.name));
  const { inputs: manifestInputs, warnings, problems: unread } = await tryLayers({ ports }, inputs);
  for (const problem of unread) problems.add(problem);
  if (manifestInputs === undefined) return { problems: problems.list, warnings, layers: [] };

  const asksFor = await resolve(ports, inputs, manifestInputs, problems);
  await requireAllowed(ports, inputs, { manifestInputs, spec: asksFor, problems });
  const { question, refusal } =
    (await problems.attempt(() => decideTrust({ ports }, manifestInputs, inputs.trust))) ?? {};
  if (refusal !== undefined) problems.add(refusal);
  const network = problems.try(() => compileFor(manifestInputs));
  const pinned = await problems.attempt(() => pinAgent({ ports }, asksFor, manifestInputs.projectDir));
  const isolation = await isolate(ports, inputs, { manifestInputs, spec: asksFor, problems });
  if (isBox) await problems.attempt(() => requireDisk(ports));
  if (isBox)
    await problems.attempt(() =>
      requireKey(ports, inputs, { manifestInputs, spec: asksFor, isAgreed: refusal === undefined }),
    );
  const digest = manifestDigest(inputs.manifest);
  const origin = { projectDir: manifestInputs.projectDir, manifestDigest: digest };
  const image = await problems.attempt(() => planImage(ports, asksFor, origin));
  const used =
    isBox && pinned !== undefined && isolation !== undefined
      ? await problems.attempt(() => useImage({ ports }, pinned, isolation, origin))
      : undefined;
  const offers = await problems.attempt(() => findToolchains({ ports }, manifestInputs));
  const shown = toolchainsOf(offers ?? [], wantsImage(asksFor));
  const person = isBox
    ? personSettings(inputs.variables ?? {}, { hasImage: wantsImage(asksFor) })
    : undefined;
  const spec = { ...(used ?? pinned ?? asksFor), ...shown.part, ...omitUndefined({ person }) };
  const command = isBox
    ? problems.try(() => planStart(getAgent({ ports }, spec.agent.name), spec, inputs))
    : { kind: "none" as const };
  return {
    problems: problems.list,
    warnings: [...warnings, ...shown.warnings],
    toolchains: offers,
    layers: manifestInputs.layers,
    projectDir: manifestInputs.projectDir,
    manifestDigest: digest,
    spec,
    isolation,
    network,
    image: image && (used?.image === undefined ? image : { ...image, id: used.image }),
    trust: question,
    command,
  };
}

/** Of the manifest file as it was found; undefined without one. */
const manifestDigest = (manifest: { readonly text: string } | undefined): string | undefined =>
  manifest && `sha256:${createHash("sha256").update(manifest.text).digest("hex")}`;

interface Step {
  readonly manifestInputs: ManifestInputs;
  readonly spec: BoxSpec;
  readonly problems: Problems;
}

async function requireFreeName({ store }: PlanPorts, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  requireBoxName(name);
  if ((await store.findBox(name)) === undefined) return;
  throw new AgentBoxError("box.name_taken", `A box named "${name}" exists already.`, {
    hint: `Choose another name, or remove that box: agentbox rm ${name}`,
    facts: { box: name },
  });
}

async function resolve(
  { agents, workspaces }: PlanPorts,
  { makes, variables = {} }: PlanInputs,
  manifestInputs: ManifestInputs,
  problems: Problems,
): Promise<BoxSpec> {
  const { projectDir } = manifestInputs;
  const isBox = makes === "box";
  const defaultMode =
    isBox && projectDir !== undefined
      ? await problems.attempt(() => workspaces.defaultMode(projectDir))
      : undefined;
  const { spec, problems: unresolved } = tryManifest({
    ...manifestInputs,
    agents,
    hostEnv: (name) => (isBox ? (Object.hasOwn(variables, name) ? variables[name] : undefined) : ""),
    defaultMode: defaultMode ?? "empty",
  });
  for (const problem of unresolved) problems.add(problem);
  return spec;
}

/** Settings that a caller may not ask for, even in a manifest. */
async function requireAllowed(
  ports: PlanPorts,
  { isRequest = false, isInBrowser = false }: PlanInputs,
  { manifestInputs, spec, problems }: Step,
): Promise<void> {
  const { projectDir, runtime, layers } = manifestInputs;
  if (isRequest && runtime !== undefined)
    await problems.attempt(async () => {
      if (await isWeakerThanOwn(ports.runtimes, layers, runtime)) throw weakerThanOwn(runtime);
    });
  if (!isInBrowser) return;
  await problems.attempt(() => requireBrowserProject({ ports }, projectDir, spec.workspace));
  await problems.attempt(() => requireBrowserMounts({ ports }, manifestInputs));
}

const weakerThanOwn = (runtime: string): AgentBoxError =>
  new AgentBoxError(
    "access.forbidden",
    `The runtime "${runtime}" isolates less than the one in the owner's config.`,
    {
      hint: "This needs a yes at the command line: agentbox run --runtime NAME",
      facts: { parameter: "flags.runtime", needs: "trust", runtime },
    },
  );

/** An image is made in the engine; a box, in its runtime. Without a choice of a runtime there is nothing to ask. */
async function isolate(
  ports: PlanPorts,
  { makes }: PlanInputs,
  { manifestInputs, spec, problems }: Step,
): Promise<BoxPlan["isolation"]> {
  if (makes === "image") {
    await problems.attempt(() => ports.images.requireEngine());
    return undefined;
  }
  if (manifestInputs.runtime === undefined) return undefined;
  const found = await problems.attempt(() => findEnforceable({ ports }, spec));
  for (const problem of found?.problems ?? []) problems.add(problem);
  return found?.isolation;
}

async function requireDisk({ storage }: PlanPorts): Promise<void> {
  const freeBytes = await storage.freeBytes();
  if (freeBytes >= minFreeBytes) return;
  throw new AgentBoxError("disk.low", `Only ${formatBytes(freeBytes)} are free where boxes are kept.`, {
    hint: "Free some disk space, or remove boxes you no longer need: agentbox prune",
    facts: { freeBytes },
  });
}

/**
 * Only for an agent: a box for commands asks a model when something in it does. SECURITY: a provider of the manifest is
 * not looked up before a person has agreed to it, because the answer says which secrets and variables the host has.
 */
async function requireKey(
  ports: PlanPorts,
  { name = "", variables }: PlanInputs,
  { manifestInputs, spec, isAgreed }: Omit<Step, "problems"> & { readonly isAgreed: boolean },
): Promise<void> {
  const { agent, model } = spec;
  const entry = Object.hasOwn(ports.agents, agent.name) ? ports.agents[agent.name] : undefined;
  if (model === undefined || entry?.api === undefined) return;
  const chosen = resolveProviders(manifestInputs.layers).find(
    ({ provider }) => provider.name === model.provider,
  );
  if (chosen === undefined || (chosen.source === "manifest" && !isAgreed)) return;
  const subject = { name, incarnation: "", projectDir: manifestInputs.projectDir, spec: { agent } };
  const { secretGrants } = ports;
  await requireModelKey({ ports, secretGrants }, chosen.provider, { subject, variables });
}

async function planImage(
  ports: PlanPorts,
  spec: BoxSpec,
  origin: Parameters<typeof pinnedBase>[2],
): Promise<PlannedImage | undefined> {
  if (!wantsImage(spec)) return undefined;
  const { image, packages = [] } = spec;
  const base = image === undefined ? undefined : await pinnedBase({ ports }, image, origin);
  return { ...omitUndefined({ base }), packages };
}

/** Refuses an agent that is to run without a task or a terminal, and a task for what only runs commands. */
function planStart(
  entry: AgentEntry,
  spec: BoxSpec,
  { main, run, exec = false }: Pick<PlanInputs, "main" | "run" | "exec">,
): PlannedCommand {
  if (run !== undefined && (entry.kind === "agent" || main === undefined)) {
    const { mode, task } = run;
    requireMode(entry, mode, task);
    return { kind: "agent", mode, ...omitUndefined({ task }) };
  }
  if (main !== undefined) return { kind: "session", main: planCommand(entry, spec, main) };
  if (entry.kind === "command") {
    const { argv, env } = launchCommand(entry, spec, "headless");
    return { kind: "exec", argv: [...argv], env: { ...env } };
  }
  if (!exec) return { kind: "none" };
  throw new AgentBoxError("input.invalid", `The agent "${entry.name}" needs a task or a terminal.`, {
    hint: `Say what to do with --task "…", or run it at a terminal.`,
    facts: { agent: entry.name },
  });
}
