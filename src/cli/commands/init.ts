/** An agentbox.toml that fits the project: its tests as a check, what its tools fetch from, and an agent that can work. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { loginSecret } from "../../contract/secret/agent-login.ts";
import { readHostVariable } from "../../host/env.ts";
import { pathKind, readSmallFile, writeFileAtomic } from "../../host/files.ts";
import type { ManifestValues } from "../../manifest/schema.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { type DetectedProject, detectProject, readNames } from "../init/detect-project.ts";
import { manifestName } from "../new-box/find-manifest.ts";
import { askText } from "../render/ask.ts";

const schemaName = "agentbox.schema.json";
const maxFileBytes = 2 ** 20;

export const run: RunCommand = async (context) => {
  const { args, screen, cwd } = context;
  const file = join(cwd, manifestName);
  const isPrinted = args.isSet("print");
  if (!isPrinted && !args.isSet("force") && (await pathKind(file)) !== undefined) {
    throw new AgentBoxError("manifest.exists", `${file} exists already.`, {
      hint: "Change it, look at a new one with --print, or replace it with --force.",
    });
  }
  const { manifestJsonSchema, parseFlags, renderManifest } = await import("../../manifest/index.ts");
  const { agents } = await context.loadCatalogue();
  const project = await readProject(cwd);
  const host = await askDaemon(context);
  const agent = args.isSet("agent") ? undefined : findAgent(host);
  const values = await collectValues(context, project, agent?.name ?? "shell");
  parseFlags(values, { agents: [...Object.keys(agents), ...host.agents] });
  const hasSchema = !args.isSet("no-schema");
  const text = renderManifest(values, { schema: hasSchema ? schemaName : undefined });
  const found = { project: project.kinds, ...omitUndefined({ reason: agent?.reason }) };
  if (isPrinted) {
    if (screen.isJson) screen.printJson({ text, values, ...found });
    else screen.print(text.trimEnd());
    return 0;
  }
  await write(file, text, args.isSet("force"));
  const schema = hasSchema
    ? await writeSchema(cwd, `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`)
    : undefined;
  if (screen.isJson) screen.printJson({ file, values, ...found, ...omitUndefined({ schema }) });
  else {
    screen.print(`Wrote ${printable(file)}. Next: agentbox run`);
    screen.note(summary(project, values, agent?.reason));
  }
  return 0;
};

/** SECURITY: the name in this directory is written, and no link that a repository has put there is followed. */
const write = (file: string, text: string, replaces: boolean): Promise<void> =>
  replaces
    ? writeFileAtomic(file, text, { mode: 0o644 })
    : writeFile(file, text, { flag: "wx", mode: 0o644 });

/** Beside the manifest, so that editors find it without a network; a file of another kind with this name stays. */
async function writeSchema(cwd: string, text: string): Promise<string | undefined> {
  const file = join(cwd, schemaName);
  const old = await readSmallFile(file, maxFileBytes);
  const isFree = (await pathKind(file)) === undefined;
  if (!isFree && old?.includes(`"$id": "${schemaName}"`) !== true) return undefined;
  await write(file, text, !isFree);
  return file;
}

async function readProject(cwd: string): Promise<DetectedProject> {
  const names = new Set(await readdir(cwd));
  const texts = await Promise.all(
    readNames
      .filter((name) => names.has(name))
      .map(async (name) => [name, await readSmallFile(join(cwd, name), maxFileBytes)] as const),
  );
  const text = new Map<string, string | undefined>(texts);
  return detectProject({ names, text: (name) => text.get(name) });
}

/** Where each vendor's key is kept, and the agent that is made for it. */
const vendors = [
  { agent: "claude", variable: "ANTHROPIC_API_KEY", secret: "anthropic" },
  { agent: "codex", variable: "OPENAI_API_KEY", secret: "openai" },
  { agent: "gemini", variable: "GEMINI_API_KEY", secret: "gemini" },
] as const;

/** An agent that is installed and has a key, one that is installed, or one that has a key. */
function findAgent({
  installed,
  secrets,
}: Awaited<ReturnType<typeof askDaemon>>): { readonly name: string; readonly reason: string } | undefined {
  const keyed = vendors
    .filter(
      ({ agent, variable, secret }) =>
        readHostVariable(variable) !== undefined ||
        [secret, loginSecret(agent)].some((name) => secrets.includes(name)),
    )
    .map(({ agent }): string => agent);
  const both = keyed.find((name) => installed.includes(name));
  if (both !== undefined) return { name: both, reason: "it is installed and has a key" };
  if (installed[0] !== undefined) return { name: installed[0], reason: "it is installed" };
  return keyed[0] === undefined ? undefined : { name: keyed[0], reason: "there is a key for it" };
}

/** The runtimes and agents of this host. The manifest is also written without a daemon. */
async function askDaemon({ connect }: CommandContext) {
  try {
    const client = await connect();
    const [agents, secrets] = await Promise.all([client.listAgents(), client.listSecrets()]);
    return {
      agents: agents.map(({ name }) => name),
      installed: agents.filter((one) => one.installed.length > 0).map(({ name }) => name),
      secrets: secrets.map(({ secret }) => secret.name),
    };
  } catch {
    return { agents: [], installed: [], secrets: [] };
  }
}

async function collectValues(
  { args, screen, cwd }: CommandContext,
  project: DetectedProject,
  agent: string,
): Promise<ManifestValues> {
  const isAsking = screen.isInteractive && !args.isSet("yes") && !args.isSet("print") && !screen.isJson;
  const value = async (flag: string, question: string, fallback: string): Promise<string | undefined> => {
    const given = args.text(flag);
    if (given !== undefined) return given;
    const answer = isAsking ? await askText(screen, question, fallback) : fallback;
    return answer === "" ? undefined : answer;
  };
  const ownMode = (await pathKind(join(cwd, ".git"))) === undefined ? "copy" : "clone";
  const name = await value("agent", "Which agent?", agent);
  const mode = await value(
    "workspace",
    "Work on a clone, a copy, the directory itself (mount), or nothing (empty)?",
    ownMode,
  );
  const memory = await value("memory", "Most memory, such as 4GiB?", "");
  const cpus = await value("cpus", "Processors, such as 2?", "");
  const ttl = await value("ttl", "Longest life of one run?", "8h");
  const idle = args.text("idle");
  const resources = { ...(memory ? { memory } : {}), ...(cpus ? { cpus: Number(cpus) } : {}) };
  const { presets, hosts, checks } = project;
  return {
    agent: name ? { name } : {},
    workspace: { mode: (mode ?? ownMode) as NonNullable<ManifestValues["workspace"]>["mode"] },
    ...(Object.keys(resources).length > 0 ? { resources } : {}),
    lifecycle: { ...(ttl ? { ttl } : {}), ...(idle ? { idle } : {}) },
    network: {
      ...(presets.length > 0 ? { presets: [...presets] } : {}),
      ...(hosts.length > 0 ? { allow: [...hosts] } : {}),
    },
    ...(checks.length > 0 ? { check: [...checks] } : {}),
  };
}

function summary(
  { kinds, presets, hosts, checks }: DetectedProject,
  values: ManifestValues,
  reason?: string,
): string {
  const network = [...presets, ...hosts];
  return [
    `Project: ${kinds.length === 0 ? "not known" : kinds.join(", ")}`,
    `Agent:   ${values.agent?.name ?? "none"}${reason === undefined ? "" : ` (${reason})`}`,
    `Network: ${network.length === 0 ? "nothing" : network.join(", ")}`,
    ...checks.map(({ name, command }) => `Check:   ${name}: ${String(command)}`),
  ].join("\n");
}
