/** From a box's record to the command that starts its agent, with everything the agent must find. */
import { dirname } from "node:path/posix";
import { randomUUID } from "node:crypto";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { AgentEntry, Launch } from "../../contract/agent.ts";
import { type Box, type BoxSpec, type MainSession, boxPaths } from "../../contract/box.ts";
import type { SessionStart } from "../../contract/link/messages.ts";
import { modelHost, placeholderKey } from "../../contract/model/api.ts";
import type { BoxTools } from "../../ports/runtime.ts";
import type { Using } from "../using.ts";
import { useTool } from "./use-tool.ts";
import { getAgent } from "./get-agent.ts";

export interface PlannedSession {
  readonly main: MainSession;
  readonly more: Omit<SessionStart, "session" | "spec">;
}

const defaultTerminal = { cols: 120, rows: 40 };
const goOn = "Continue where you left off.";

export async function planRun(
  core: Using<"agentProblems" | "agents" | "store">,
  box: Box,
  program: string,
): Promise<PlannedSession> {
  const { run } = box;
  if (!run) throw new TypeError(`the box ${box.name} has no agent to start`);
  const entry = getAgent(core, box.spec.agent.name);
  const hasBegun = (run.turns > 1 || run.starts > 0) && (await hasAskedModel(core, box, entry));
  const launch = entry.launch({
    mode: run.mode,
    task: hasBegun && run.starts > 0 ? (run.mode === "headless" ? goOn : undefined) : run.task,
    // A conversation in which nothing was said has left nothing that could be resumed.
    resume: hasBegun ? { conversation: run.conversation } : undefined,
    newConversation: run.conversation ?? randomUUID(),
    ...commonRequest(box, entry, program),
  });
  return {
    main: toSession(run.mode, launch, box.main ?? defaultTerminal),
    more: moreOf(entry, run.mode, launch),
  };
}

/** The program of an entry without a task: for a command box, the given command. */
export const launchCommand = (entry: AgentEntry, spec: BoxSpec, mode: "interactive" | "headless"): Launch =>
  entry.launch({ mode, newConversation: "", ...commonRequest({ spec }, entry, "") });

/** A command as the main session, with the person's own terminal or pipes. */
export function planCommand(
  entry: AgentEntry,
  spec: BoxSpec,
  wanted: {
    argv?: readonly string[] | undefined;
    env?: Record<string, string> | undefined;
    terminal: boolean;
    cols: number;
    rows: number;
  },
): MainSession {
  const mode = wanted.terminal ? "interactive" : "headless";
  const session = toSession(mode, launchCommand(entry, spec, mode), wanted);
  return { ...session, argv: [...(wanted.argv ?? session.argv)], env: { ...session.env, ...wanted.env } };
}

/** Every agent learns this about its box, before the project's own instructions. */
const boxInstructions = `You work in a box made by AgentBox. Inside it you may change everything.
The network reaches only hosts that were allowed. When an answer says "Denied by AgentBox", do not repeat the request and
do not look for a way around it: say which host you need and what for, and go on with what works without it.`;

function commonRequest({ spec }: Pick<Box, "spec">, entry: AgentEntry, program: string) {
  return {
    autonomy: spec.agent.autonomy,
    options: entry.options.parse(spec.agent.options),
    args: spec.agent.args,
    model: spec.model?.name ?? entry.defaultModel,
    program,
    endpoint: { baseUrl: `http://${modelHost}/${spec.model?.provider ?? "none"}`, token: placeholderKey },
    mcp: spec.mcp,
    instructions: [boxInstructions, spec.agent.instructions].filter(Boolean).join("\n\n"),
    skillsDir: spec.agent.skills === undefined ? undefined : boxPaths.skills,
    workspace: boxPaths.workspace,
    home: boxPaths.home,
  };
}

const toSession = (
  mode: "interactive" | "headless",
  { argv, env }: Launch,
  { cols, rows }: { cols: number; rows: number },
): MainSession => ({ argv: [...argv], env: { ...env }, terminal: mode === "interactive", cols, rows });

const moreOf = (
  entry: AgentEntry,
  mode: "interactive" | "headless",
  launch: Launch,
): PlannedSession["more"] => ({
  files: launch.files,
  ...omitUndefined({ links: launch.links }),
  hasNoInput: mode === "headless",
  hasHooks: entry.readHooks !== undefined,
});

/** Without a model to ask there is no telling; then a second start goes on with the first. */
async function hasAskedModel(core: Using<"store">, box: Box, entry: AgentEntry): Promise<boolean> {
  if (entry.api === undefined) return true;
  const { requests } = await core.ports.store.sumModel({ box: box.name, incarnation: box.incarnation });
  return requests > 0;
}

/** The box's part of the tool store; empty for agents that are part of every box. */
export interface AgentTool {
  /** Absolute path of the agent's program in the box. */
  readonly program: string;
  readonly agents: Readonly<Record<string, string>>;
}

/** Verified, therefore once for each start and not more: some agents have ten thousand files. */
export async function toolOf(
  core: Using<"agentProblems" | "agents" | "note" | "toolStore">,
  box: Box,
): Promise<AgentTool> {
  const { name, version } = box.spec.agent;
  if (getAgent(core, name).install.kind === "none") return { program: "", agents: {} };
  const { dir, program } = await useTool(core, name, version);
  return { program: `${boxPaths.agents}/${name}/${program}`, agents: { [name]: dir } };
}

export const boxTools = (core: Using<"tools">, { spec }: Box, { agents }: AgentTool): BoxTools => ({
  ...core.ports.tools,
  agents,
  ...omitUndefined({ skills: spec.agent.skills }),
});

/** So that a person in the box can type the agent's name. */
export const pathOf = ({ program }: AgentTool): string[] => (program === "" ? [] : [dirname(program)]);
