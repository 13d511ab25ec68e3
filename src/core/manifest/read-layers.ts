import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { CreateBox } from "../../contract/api/schemas.ts";
import {
  type CheckContext,
  type Finding,
  type ManifestLayer,
  defaultLayer,
  layerManifest,
  parseFlags,
  parseHostPolicy,
  parseManifest,
  parseUserConfig,
} from "../../manifest/index.ts";
import { refusalOf } from "../../contract/plan.ts";
import { mcpJsonName, readMcpJson } from "../../manifest/mcp-json.ts";
import { chooseRuntime, isAtLeast, tierOf } from "../plan/choose-runtime.ts";
import type { CorePorts } from "../context.ts";
import type { Using } from "../using.ts";
import { Problems } from "../plan/problems.ts";
import { type ManifestInputs, listMountSources, resolveSkills } from "../trust/mount-requests.ts";
import { networkLayers, readPresets } from "../policy/network-layers.ts";
import { isListed } from "../team/settings.ts";
import { readEnvFiles } from "./read-env-files.ts";
import { maxTtlMs } from "./resolve-manifest.ts";
import {
  type Devcontainer,
  devcontainerNames,
  readDevcontainer,
} from "../../manifest/devcontainer/devcontainer.ts";

/** The project's devcontainer.json, for a box that a container runtime makes and that has no image of its own. */
async function findDevcontainer(
  { host, runtimes }: Pick<CorePorts, "host" | "runtimes">,
  projectDir: string | undefined,
  layers: readonly ManifestLayer[],
  runtime: string,
): Promise<Devcontainer | undefined> {
  const { values } = layerManifest(layers);
  const { image, packages } = values.runtime ?? {};
  // A repository that is cloned from elsewhere is not described by the current directory.
  if (projectDir === undefined || values.workspace?.url !== undefined) return undefined;
  if (image !== undefined || packages !== undefined) return undefined;
  for (const name of devcontainerNames) {
    // SECURITY: a repository can hold a link to anywhere, for the directory of the file as well.
    const path = `${projectDir}/${name}`;
    if ((await host.realPath(path)) !== path) continue;
    const text = await host.readProjectFile(projectDir, name);
    if (text === undefined) continue;
    const isForEngines = isAtLeast(tierOf(await runtimes.get(runtime)), "container");
    return isForEngines ? readDevcontainer(name, text) : undefined;
  }
  return undefined;
}

export interface ReadLayers {
  readonly inputs: ManifestInputs;
  readonly warnings: readonly string[];
}

/** `inputs` is absent when a file or the flags cannot be used at all. */
export interface TriedLayers {
  readonly inputs?: ManifestInputs | undefined;
  readonly warnings: readonly string[];
  readonly problems: readonly AgentBoxError[];
}

type LayerPort = "host" | "agents" | "runtimes" | "presets";

type Sources = Pick<CreateBox, "projectDir" | "manifest" | "flags"> & {
  readonly attended?: boolean | undefined;
  /** The flags come from a caller who may only ask: they count as a part of the manifest. */
  readonly isRequest?: boolean | undefined;
};

/**
 * The settings of the machine's owner and of the person: the layers below every project, and the bounds by which later
 * ones are checked.
 */
export async function readOwnLayers(
  core: Using<LayerPort>,
): Promise<{ layers: ManifestLayer[]; warnings: string[]; context: CheckContext }> {
  const { host, agents, runtimes } = core.ports;
  const base: CheckContext = {
    agents: Object.keys(agents),
    agentOptions: Object.fromEntries(Object.entries(agents).map(([name, { options }]) => [name, options])),
    runtimes: runtimes.names,
    offeredRuntimes: runtimes.offered,
    userHome: host.userHome,
    agentboxHome: host.agentboxHome,
  };
  const own: TakenLayers = { layers: [], warnings: [] };
  const hostPolicy = await host.readHostPolicy();
  if (hostPolicy)
    take(own, hostPolicy.file, parseHostPolicy(hostPolicy.text, { ...base, file: hostPolicy.file }));
  const config = await host.readUserConfig();
  if (config) take(own, config.file, parseUserConfig(config.text, { ...base, file: config.file }));
  const context = { ...base, maxTtlMs: maxTtlMs(own.layers), providers: providerNames(own.layers) };
  return { ...own, context };
}

interface TakenLayers {
  readonly layers: ManifestLayer[];
  readonly warnings: string[];
}

function take(
  { layers, warnings }: TakenLayers,
  file: string,
  parsed: { layer?: ManifestLayer; findings: Finding[] },
): void {
  if (!parsed.layer) throw invalid(file, parsed.findings);
  layers.push(parsed.layer);
  warnings.push(...parsed.findings.map((finding) => describeFinding(file, finding)));
}

/** User config, manifest and flags, each checked, with the host paths they mean. Nothing is created here. */
export async function readLayers(core: Using<LayerPort>, sources: Sources): Promise<ReadLayers> {
  const { inputs, warnings, problems } = await tryLayers(core, sources);
  if (inputs === undefined || problems.length > 0) throw refusalOf(problems);
  return { inputs, warnings };
}

/** The same with everything that is wrong, and with what is known in spite of it. */
export async function tryLayers(core: Using<LayerPort>, sources: Sources): Promise<TriedLayers> {
  const { host, runtimes } = core.ports;
  const problems = new Problems();
  const taken = await problems.attempt(() => takeSources(core, sources, problems));
  if (taken === undefined || problems.list.length > 0) return { warnings: [], problems: problems.list };
  const { layers, warnings } = taken;

  const projectDir = await problems.attempt(() => realProject(core, sources));
  const mcpJson = await problems.attempt(() => readMcpFile(core, projectDir, layers));
  if (mcpJson !== undefined) warnings.push(...readMcpJson(mcpJson).warnings);
  const envFiles = await problems.attempt(() => readEnvFiles(core, projectDir, layers));
  warnings.push(...(envFiles?.warnings ?? []));
  const runtime = await problems.attempt(() => chooseRuntime(runtimes, layers));
  const devcontainer =
    runtime === undefined
      ? undefined
      : await problems.attempt(() => findDevcontainer(core.ports, projectDir, layers, runtime));
  warnings.push(...(devcontainer?.warnings ?? []));
  const inputs: ManifestInputs = {
    layers,
    projectDir,
    mcpJson,
    envFiles,
    runtime,
    devcontainer,
    userHome: host.userHome,
    agentboxHome: host.agentboxHome,
  };
  const presets = await problems.attempt(() => readPresets(core.ports.presets, networkLayers(layers)));
  const realPath = await problems.attempt(() => resolveLinks(core, inputs, problems));
  return { inputs: { ...inputs, presets, realPath }, warnings, problems: problems.list };
}

async function takeSources(
  core: Using<LayerPort>,
  { manifest, flags, isRequest = false, attended = false }: Sources,
  problems: Problems,
): Promise<TakenLayers> {
  const { context, ...own } = await readOwnLayers(core);
  if (manifest !== undefined) {
    const { file, text } = manifest;
    await problems.attempt(async () => {
      // SECURITY: the client may not have checked who owns it.
      await core.ports.host.requireOwn(file);
      take(own, file, parseManifest(text, { ...context, file }));
    });
  }
  const wanted = attended && asksByDefault(own.layers, flags) ? withQuestions(flags) : flags;
  if (wanted !== undefined) {
    const typed = problems.try(() =>
      parseFlags(wanted, { ...context, providers: providerNames(own.layers) }),
    );
    if (typed !== undefined && isRequest) askFor(own.layers, typed);
    else if (typed !== undefined) own.layers.push(typed);
  }
  return own;
}

type Flags = Sources["flags"];

const networkOf = (flags: Flags): Readonly<Record<string, unknown>> => {
  const network = flags?.["network"];
  return typeof network === "object" && network !== null ? { ...network } : {};
};

/**
 * Whether a box that a person watches asks about hosts that no rule names: yes, unless the manifest has a network
 * section, the person's own config has decided, or the flags say otherwise.
 */
function asksByDefault(layers: readonly ManifestLayer[], flags: Flags): boolean {
  const { default: typed, learn } = networkOf(flags);
  const isDecided = layers.some(({ source, values: { network } }) =>
    source === "manifest" ? network !== undefined : network?.default !== undefined,
  );
  return !isDecided && typed === undefined && learn !== true;
}

const withQuestions = (flags: Flags): NonNullable<Flags> => ({
  ...flags,
  network: { ...networkOf(flags), default: "ask" },
});

/** SECURITY: in one layer with the manifest, so that a question about a project's requests shows all of it. */
function askFor(layers: ManifestLayer[], typed: ManifestLayer): void {
  const index = layers.findIndex(({ source }) => source === "manifest");
  const manifest = layers[index];
  const { values } = layerManifest(manifest === undefined ? [typed] : [manifest, typed]);
  const check = typed.values.check ?? manifest?.values.check;
  const asked: ManifestLayer = {
    source: "manifest",
    file: manifest?.file,
    positions: manifest?.positions,
    values: { ...values, ...omitUndefined({ check }) },
  };
  if (manifest === undefined) layers.push(asked);
  else layers[index] = asked;
}

const providerNames = (layers: readonly ManifestLayer[]): string[] =>
  layers.flatMap(({ values }) => Object.keys(values.model?.providers ?? {}));

/** Only for agents: the command of a command box has no use for the servers. */
async function readMcpFile(
  core: Using<LayerPort>,
  projectDir: string | undefined,
  layers: readonly ManifestLayer[],
): Promise<string | undefined> {
  const name = layerManifest([defaultLayer, ...layers]).values.agent?.name ?? "";
  const { agents, host } = core.ports;
  const isAgent = Object.hasOwn(agents, name) && agents[name]?.kind === "agent";
  return isAgent && projectDir !== undefined ? host.readProjectFile(projectDir, mcpJsonName) : undefined;
}

async function realProject(
  core: Using<"host">,
  { projectDir: path, isRequest }: Sources,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const real = path.startsWith("/") ? await core.ports.host.realPath(path) : undefined;
  // SECURITY: of the path that is used from here on. A box that may write above it can put a link there since it was judged.
  if (real !== undefined && (isRequest !== true || (await isListed(core, real)))) return real;
  throw noSuchDirectory(path);
}

export const noSuchDirectory = (
  path: string,
  hint = "Give the absolute path of a directory.",
): AgentBoxError =>
  new AgentBoxError(
    "workspace.source_invalid",
    `The project directory ${path.slice(0, 200)} does not exist.`,
    { hint },
  );

/**
 * SECURITY: a repository can hold a link to anywhere. The question to the person and the mount are both about the
 * link's target.
 */
async function resolveLinks(
  core: Using<"host">,
  inputs: ManifestInputs,
  problems: Problems,
): Promise<(path: string) => string> {
  const real = new Map<string, string>();
  for (const source of listMountSources(inputs)) {
    const found = await core.ports.host.realPath(source);
    if (found === undefined) problems.add(noSuchSource(source));
    else real.set(source, found);
  }
  const resolve = (path: string): string => real.get(path) ?? path;
  const skills = resolveSkills({ ...inputs, realPath: resolve })?.source;
  // SECURITY: an agent follows them as its person's own instructions.
  if (skills !== undefined) await core.ports.host.requireOwn(skills);
  return resolve;
}

const noSuchSource = (source: string): AgentBoxError =>
  new AgentBoxError("mount.invalid", `The path ${source}, which the box is to see, does not exist.`, {
    hint: "Make the directory first, or do not name it.",
  });

const describeFinding = (file: string, { code, line, column, message }: Finding): string =>
  `${file}:${line}:${column}: ${code} ${message}`;

function invalid(file: string, findings: readonly Finding[]): AgentBoxError {
  const errors = findings.filter(({ severity }) => severity === "error");
  const first = errors[0];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return new AgentBoxError("manifest.invalid", `${first ? describeFinding(file, first) : file}${more}`, {
    hint: first?.hint ?? "Check it: agentbox validate",
    facts: { file, findings },
  });
}
