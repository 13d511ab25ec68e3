import { resolve } from "node:path";
import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import type { AgentCheck, AgentInfo, InstallAgent } from "../../contract/api/schemas.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { findManifest } from "../new-box/find-manifest.ts";
import { installWithProgress } from "../new-box/install-agent.ts";
import { withProgress } from "../render/progress.ts";
import type { Style } from "../render/style.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const [verb = "ls", ...words] = context.args.positionals;
  const action = Object.hasOwn(actions, verb) ? actions[verb as keyof typeof actions] : undefined;
  const stray = Object.entries(verbsOf).find(
    ([flag, verbs]) => context.args.isSet(flag) && !verbs.includes(verb),
  );
  if (action && stray)
    throw new AgentBoxError("input.invalid", `--${stray[0]} has no meaning with agents ${verb}.`, {
      hint: `Use it with: agentbox agents ${stray[1].join(", ")}`,
    });
  if (action) return action(context, words);
  throw new AgentBoxError("command.unknown", `There is no "agentbox agents ${verb}".`, {
    hint: `Did you mean: agentbox agents ${suggest(verb, Object.keys(actions)) ?? "ls"}`,
  });
};

/** SECURITY: a flag that is passed over in silence gives a person something else than they asked for. */
const verbsOf: Readonly<Record<string, readonly string[]>> = {
  from: ["add"],
  project: ["add", "update"],
  latest: ["update"],
};

async function list({ screen, connect }: CommandContext): Promise<number> {
  const agents = await (await connect()).listAgents();
  if (screen.isJson) screen.printJson({ agents });
  else screen.print(renderAgents(agents, screen.style));
  return 0;
}

async function add(context: CommandContext, words: readonly string[]): Promise<number> {
  const { args, screen, cwd } = context;
  const { name, version } = parseNamed(words, "add NAME[@VERSION]");
  const from = args.text("from");
  const request = await withProject(context, {
    ...omitUndefined({ version }),
    ...(from === undefined ? {} : { from: resolve(cwd, from) }),
  });
  const tool = await installWithProgress(context, await context.connect(), name, request);
  if (screen.isJson) screen.printJson({ tool });
  else screen.print(describeTool(tool, screen.style));
  return 0;
}

/** Moves pins. Without names: every agent that is pinned and can be newer. */
async function update(context: CommandContext, names: readonly string[]): Promise<number> {
  const { args, screen } = context;
  const client = await context.connect();
  const catalogue = await client.listAgents();
  const chosen =
    names.length > 0
      ? names.map((name) => getListed(catalogue, name))
      : catalogue.filter(({ pinned, recommended }) => pinned !== undefined && recommended !== undefined);
  const moves: { agent: string; from?: string; to: string }[] = [];
  for (const { name, pinned, recommended } of chosen) {
    const version = args.isSet("latest") ? "latest" : recommended;
    if (version === undefined) throw noRegistry(name);
    const tool = await installWithProgress(context, client, name, await withProject(context, { version }));
    moves.push({ agent: name, ...omitUndefined({ from: pinned }), to: tool.version });
  }
  if (screen.isJson) screen.printJson({ moves });
  else if (moves.length === 0) screen.print("Nothing is installed that could be updated.");
  else screen.print(renderTable(moves.map((move) => renderMove(move, screen.style))));
  return 0;
}

const renderMove = (move: { agent: string; from?: string; to: string }, style: Style): string[] => [
  style.bold(move.agent),
  move.from === move.to
    ? `${move.to} is up to date`
    : `${move.from ?? "not installed"} → ${style.green(move.to)}`,
];

async function remove({ screen, connect }: CommandContext, words: readonly string[]): Promise<number> {
  const { name, version } = parseNamed(words, "rm NAME[@VERSION]");
  const { removed } = await (await connect()).removeAgent(name, { version });
  if (screen.isJson) screen.printJson({ agent: name, removed });
  else screen.print(`Removed ${name} ${removed.join(", ")}.`);
  return 0;
}

async function doctor({ screen, connect }: CommandContext): Promise<number> {
  const client = await connect();
  const checks = await withProgress(screen, "Reading everything that is installed", () =>
    client.checkAgents(),
  );
  if (screen.isJson) screen.printJson({ checks });
  else screen.print(renderChecks(checks, screen.style));
  return checks.some(({ status }) => status === "broken") ? 1 : 0;
}

const actions = { ls: list, add, update, rm: remove, doctor } as const;

async function withProject({ args, cwd, env }: CommandContext, request: InstallAgent): Promise<InstallAgent> {
  if (!args.isSet("project")) return request;
  return { ...request, projectDir: (await findManifest(cwd, env))?.dir ?? cwd };
}

/** `claude@2.1.197`. */
function parseNamed(words: readonly string[], usage: string): { name: string; version?: string } {
  const [word, ...others] = words;
  const [name, version, ...more] = (word ?? "").split("@");
  if (!name || version === "" || more.length > 0 || others.length > 0) {
    throw new AgentBoxError("input.invalid", "Name one agent, with a version if you like.", {
      hint: `Usage: agentbox agents ${usage}`,
    });
  }
  return { name, ...omitUndefined({ version }) };
}

function getListed(catalogue: readonly AgentInfo[], name: string): AgentInfo {
  const found = catalogue.find((agent) => agent.name === name);
  if (found) return found;
  const known = catalogue.map((agent) => agent.name);
  const meant = suggest(name, known);
  throw new AgentBoxError("agent.unknown", `There is no agent "${name}".`, {
    hint: meant ? `Did you mean: agentbox agents update ${meant}` : `Known: ${known.join(", ")}.`,
  });
}

const noRegistry = (name: string): AgentBoxError =>
  new AgentBoxError("input.invalid", `"${name}" is on no registry, so there is nothing to update it from.`, {
    hint: `Install the new version yourself, then: agentbox agents add ${name} --from PATH`,
  });

const describeTool = ({ agent, version, bytes, digest }: InstalledTool, style: Style): string =>
  `${style.green("✓")} ${style.bold(agent)} ${version}  ${style.dim(`${formatBytes(bytes)}, ${digest.slice(0, 19)}`)}`;

export function renderAgents(agents: readonly AgentInfo[], style: Style): string {
  const rows = agents.map(({ name, kind, pinned, installed, recommended, origin, description }) => {
    const others = installed.map(({ version }) => version).filter((version) => version !== pinned);
    const bytes = installed.reduce((sum, tool) => sum + tool.bytes, 0);
    const version =
      pinned === undefined ? style.dim(kind === "command" ? "built in" : "not installed") : pinned;
    const newer = pinned !== undefined && recommended !== undefined && recommended !== pinned;
    return [
      style.bold(printable(name)),
      others.length > 0 ? `${version} ${style.dim(`(+ ${others.join(", ")})`)}` : version,
      newer ? style.yellow(recommended) : style.dim(recommended ?? "-"),
      bytes > 0 ? formatBytes(bytes) : style.dim("-"),
      origin === "user" ? style.cyan("yours") : style.dim(origin),
      printable(description),
    ];
  });
  return renderTable([["AGENT", "VERSION", "TESTED", "SIZE", "ORIGIN", ""].map(style.dim), ...rows]);
}

export function renderChecks(checks: readonly AgentCheck[], style: Style): string {
  const marks = { ready: style.green("ready"), absent: style.yellow("absent"), broken: style.red("broken") };
  const rows = checks.map(({ agent, status, version, detail, fix }) => [
    style.bold(printable(agent)),
    marks[status],
    version ?? style.dim("-"),
    printable(detail) + (fix === undefined ? "" : `  ${style.dim(`fix: ${fix}`)}`),
  ]);
  return renderTable(rows);
}
