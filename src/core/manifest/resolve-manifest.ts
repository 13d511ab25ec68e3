/** Layers of values → the one specification a box is made from. Pure: the host is an argument. */
import { parseBytes } from "../../base/bytes.ts";
import { formatDuration, parseDuration } from "../../base/duration.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { AgentEntry } from "../../contract/agent.ts";
import { type BoxSpec, type ReadinessProbe, type ServiceSpec, boxPaths } from "../../contract/box.ts";
import {
  type EffectiveManifest,
  type LayerValues,
  defaultLayer,
  layerManifest,
} from "../../manifest/index.ts";
import { entryDefaults, manifestDefaults } from "../../manifest/defaults.ts";
import { forbiddenMountSource, holdsHome, normalizePath } from "../../contract/mount-paths.ts";
import type { CheckEntry, ServiceEntry } from "../../manifest/schema.ts";
import type { CheckSpec } from "../../contract/review/check.ts";
import { type ManifestInputs, resolveMounts } from "../trust/mount-requests.ts";
import { refusalOf } from "../../contract/plan.ts";
import { Problems } from "../plan/problems.ts";
import { resolveAgent } from "./resolve-agent.ts";
import { envVariables } from "../../manifest/env-files.ts";
import type { EnvFiles } from "./read-env-files.ts";
import { formatPath } from "../../manifest/path.ts";
import { resolveBudget } from "./resolve-budget.ts";
import { resolveMcp } from "./resolve-mcp.ts";
import { type AgentModel, resolveModel } from "./resolve-model.ts";
import { resolveSecrets } from "../secrets/bindings.ts";
import { resolveExceptions } from "../trust/security-exceptions.ts";

export interface ResolveOptions extends ManifestInputs {
  /** A variable of the host's environment. */
  readonly hostEnv: (name: string) => string | undefined;
  /** The catalogue; an agent that is not in it has no model and takes any option. */
  readonly agents?: Readonly<Record<string, AgentModel & Pick<AgentEntry, "options">>> | undefined;
  /** The default mode of the workspace; see Workspaces.defaultMode. */
  readonly defaultMode: BoxSpec["workspace"]["mode"];
}

/** Every layer has been checked by its parser; what is checked here is what only shows when they are together. */
export function resolveManifest(options: ResolveOptions): BoxSpec {
  const { spec, problems } = tryManifest(options);
  if (problems.length > 0) throw refusalOf(problems);
  return spec;
}

/** The same with everything that is wrong; a part that cannot be resolved is left at its default. */
export function tryManifest(options: ResolveOptions): {
  readonly spec: BoxSpec;
  readonly problems: readonly AgentBoxError[];
} {
  const problems = new Problems();
  const effective = layerManifest([defaultLayer, ...options.layers]);
  const { values } = effective;
  const { agents = {} } = options;
  const agent = values.agent?.name ?? manifestDefaults.agent.name;
  const entry = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  const agentSpec = problems.try(() => resolveAgent(values, options, entry), {
    name: agent,
    args: [],
    autonomy: manifestDefaults.agent.autonomy,
    options: {},
  });
  const model = problems.try(() => resolveModel(options.layers, entry));
  const workspace = problems.try(() => resolveWorkspace(values, options), {
    mode: "empty" as const,
    carry: manifestDefaults.workspace.carry,
  });
  const mounts = problems.try(() => resolveMounts(options), []);
  const env = resolveEnv(values, options, problems);
  const givenEnv = givenVariables(effective, options.envFiles);
  const maximum = maxTtlMs(options.layers);
  const spec: BoxSpec = {
    agent: agentSpec,
    ...omitUndefined({ model }),
    budget: resolveBudget(options.layers),
    mcp: resolveMcp(options.layers, options.mcpJson),
    workspace,
    ...(values.workspace?.cache === "project" ? { cache: "project" as const } : {}),
    ...resolveRuntime(values, options),
    resources: resolveResources(effective),
    mounts: mounts.map(({ mount }) => mount),
    env,
    ...(givenEnv.length === 0 ? {} : { givenEnv }),
    ...omitUndefined({ envScript: options.envFiles?.script }),
    services: Object.entries(values.services ?? {}).map(([name, service]) => resolveService(name, service)),
    lifecycle: resolveLifecycle(effective, maximum, problems),
    secrets: resolveSecrets(options.layers),
    checks: options.layers.flatMap(({ values: { check = [] } }) => check.map(resolveCheck)),
  };
  return { spec, problems: problems.list };
}

/** Absent settings are left out, so that records of boxes from before and after are the same. */
function resolveRuntime(
  { runtime = {} }: LayerValues,
  options: ResolveOptions,
): Pick<BoxSpec, "runtime" | "tier" | "image" | "packages" | "exceptions"> {
  const image = runtime.image ?? options.devcontainer?.image;
  const packages = runtime.packages ?? options.devcontainer?.packages;
  const exceptions = resolveExceptions(options.layers);
  return {
    runtime: options.runtime ?? runtime.name ?? manifestDefaults.runtime.name,
    ...omitUndefined({ tier: runtime.tier, image }),
    ...(packages === undefined ? {} : { packages: [...new Set(packages)].sort() }),
    ...(exceptions.length === 0 ? {} : { exceptions }),
  };
}

const resolveCheck = ({ name, command, timeout }: CheckEntry): CheckSpec => ({
  name,
  argv: toArgv(command),
  timeoutMs: parseDuration(timeout ?? entryDefaults.checks.timeout)!,
});

/** The longest life any box may have, by the user config among the layers. */
export function maxTtlMs(layers: ManifestInputs["layers"]): number {
  // SECURITY: only the owner of the machine sets limits; a layer from a repository has no say.
  const own = layers.filter(({ source }) => source === "user config");
  const { values } = layerManifest([defaultLayer, ...own]);
  return parseDuration(values.limits?.max_ttl ?? manifestDefaults.limits.max_ttl)!;
}

function resolveWorkspace(values: LayerValues, options: ResolveOptions): BoxSpec["workspace"] {
  const { projectDir } = options;
  if (values.workspace?.url !== undefined) return { mode: "clone", url: values.workspace.url, carry: "none" };
  const mode = values.workspace?.mode ?? modeWithoutChoice(options);
  const carry = values.workspace?.carry ?? manifestDefaults.workspace.carry;
  if (mode === "empty") return { mode, carry };
  const reason =
    projectDir === undefined ? "there is no project directory" : whyNotShown(mode, projectDir, options);
  if (projectDir === undefined || reason !== undefined) {
    throw new AgentBoxError(
      "workspace.source_invalid",
      `The workspace mode "${mode}" cannot be used here: ${reason}.`,
      {
        hint: 'Run the command in a project, or use workspace.mode = "empty".',
      },
    );
  }
  return { mode, source: projectDir, carry };
}

// SECURITY: a command typed in a home directory must not carry its keys and histories into the box.
const modeWithoutChoice = ({
  projectDir,
  defaultMode,
  userHome,
}: ResolveOptions): ResolveOptions["defaultMode"] =>
  projectDir === undefined || (defaultMode !== "clone" && holdsHome(projectDir, userHome))
    ? "empty"
    : defaultMode;

/** A clone holds what was committed; a copy or a mount holds everything that lies there. */
function whyNotShown(
  mode: "clone" | "copy" | "mount",
  projectDir: string,
  inputs: ManifestInputs,
): string | undefined {
  if (mode === "mount") return forbiddenMountSource(projectDir, inputs);
  return mode === "copy" && holdsHome(projectDir, inputs.userHome)
    ? "it is or holds a whole home directory"
    : undefined;
}

function resolveResources({ values, origins }: EffectiveManifest): BoxSpec["resources"] {
  const { cpus, memory, pids, disk, tmp, shm } = values.resources ?? {};
  const isAsked = (name: string): boolean =>
    (origins.get(`resources.${name}`)?.source ?? "default") !== "default";
  return {
    ...omitUndefined({ cpus }),
    ...(memory === undefined ? {} : { memoryBytes: parseBytes(memory)! }),
    ...omitUndefined({ pids }),
    ...(disk === undefined ? {} : { diskBytes: parseBytes(disk)! }),
    ...(tmp === undefined ? {} : { tmpBytes: parseBytes(tmp)! }),
    ...(shm === undefined ? {} : { shmBytes: parseBytes(shm)! }),
    required: (["cpus", "memory", "pids", "disk"] as const).filter(isAsked),
  };
}

function resolveEnv(
  { env = {} }: LayerValues,
  { hostEnv, devcontainer, envFiles }: ResolveOptions,
  problems: Problems,
): Record<string, string> {
  const resolved = envVariables(env).flatMap(([name, value]): [string, string][] => {
    if (typeof value === "string") return [[name, value]];
    const found = hostEnv(value.from_host);
    if (found !== undefined) return [[name, found]];
    problems.add(noVariable(name, value.from_host));
    return [];
  });
  const ofFiles = Object.assign({}, ...(envFiles?.files ?? []).map(({ values }) => values)) as Record<
    string,
    string
  >;
  return { ...devcontainer?.env, ...ofFiles, ...Object.fromEntries(resolved) };
}

const noVariable = (name: string, variable: string): AgentBoxError =>
  new AgentBoxError(
    "manifest.invalid",
    `The host has no environment variable "${printable(variable)}", which env.${name} takes its value from.`,
    { hint: `Set it where the command is run, or remove env.${name}.`, facts: { variable } },
  );

/** SECURITY: a value that stands in a repository's manifest is no secret of the person's; any other may be one. */
function givenVariables({ values, origins }: EffectiveManifest, files: EnvFiles | undefined): string[] {
  const isGiven = (name: string): boolean => {
    const source = origins.get(formatPath(["env", name]))?.source;
    return source === "user config" || source === "flag";
  };
  const own = envVariables(values.env)
    .filter(([name, value]) => typeof value !== "string" || isGiven(name))
    .map(([name]) => name);
  const ofFiles = (files?.files ?? []).flatMap((file) => Object.keys(file.values));
  return [...new Set([...own, ...ofFiles])].sort();
}

const toArgv = (command: ServiceEntry["command"]): string[] =>
  typeof command === "string" ? ["/bin/sh", "-c", command] : command;

function resolveService(name: string, service: ServiceEntry): ServiceSpec {
  const { cwd } = service;
  return {
    name,
    argv: toArgv(service.command),
    cwd: normalizePath(cwd?.startsWith("/") ? cwd : `${boxPaths.workspace}/${cwd ?? ""}`),
    env: service.env ?? {},
    after: service.after ?? [],
    ready: resolveReady(service.ready),
    readyTimeoutMs: parseDuration(service.ready_timeout ?? entryDefaults.services.ready_timeout)!,
    restart: service.restart ?? entryDefaults.services.restart,
    ...omitUndefined({ required: service.required }),
  };
}

function resolveReady(ready: ServiceEntry["ready"]): ReadinessProbe {
  if (ready?.port !== undefined) return { kind: "port", port: ready.port };
  if (ready?.command !== undefined) return { kind: "command", argv: toArgv(ready.command) };
  if (ready?.log !== undefined) return { kind: "log", pattern: ready.log };
  return { kind: "none" };
}

function resolveLifecycle(
  { values, origins }: EffectiveManifest,
  maximum: number,
  problems: Problems,
): BoxSpec["lifecycle"] {
  const defaults = manifestDefaults.lifecycle;
  const {
    ttl = defaults.ttl,
    idle,
    restart = defaults.restart,
    stop_grace = defaults.stop_grace,
  } = values.lifecycle ?? {};
  const asked = parseDuration(ttl)!;
  const isDefault = (origins.get("lifecycle.ttl")?.source ?? "default") === "default";
  if (asked > maximum && !isDefault) problems.add(tooLong(ttl, maximum));
  return {
    ttlMs: Math.min(asked, maximum),
    ...(idle === undefined ? {} : { idleMs: parseDuration(idle)! }),
    restart,
    stopGraceMs: parseDuration(stop_grace)!,
  };
}

const tooLong = (ttl: string, maximum: number): AgentBoxError =>
  new AgentBoxError(
    "manifest.invalid",
    `A time to live of ${ttl} is over the maximum of ${formatDuration(maximum)}.`,
    {
      hint: "Choose a shorter time, or raise limits.max_ttl in the user config.",
      facts: { rule: "E017" },
    },
  );
