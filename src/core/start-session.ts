import { AgentBoxError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { AgentEntry } from "../contract/agent.ts";
import type { StartSession } from "../contract/api/schemas.ts";
import type { Box, MainSession } from "../contract/box.ts";
import type { SessionStatus } from "../contract/link/messages.ts";
import type { Core } from "./context.ts";
import { recordOutput } from "./record-output.ts";
import { getLink } from "./run-in-box.ts";

export function getAgent(core: Core, name: string): AgentEntry {
  const entry = Object.hasOwn(core.ports.agents, name) ? core.ports.agents[name] : undefined;
  if (entry) return entry;
  const meant = suggest(name, Object.keys(core.ports.agents));
  throw new AgentBoxError("agent.unknown", `There is no agent "${name.slice(0, 80)}".`, {
    hint: meant ? `Did you mean "${meant}"?` : `Choose one of: ${Object.keys(core.ports.agents).join(", ")}.`,
  });
}

/** The session an agent runs in: its own command unless another was asked for. */
export function sessionFor(
  agent: AgentEntry,
  args: readonly string[],
  wanted: {
    argv?: string[] | undefined;
    env?: Record<string, string> | undefined;
    terminal: boolean;
    cols: number;
    rows: number;
  },
): MainSession {
  const command = wanted.terminal
    ? agent.interactive(args)
    : (agent.headless(args) ?? agent.interactive(args));
  return {
    argv: wanted.argv ?? [...command],
    env: { ...agent.env, ...wanted.env },
    terminal: wanted.terminal,
    cols: wanted.cols,
    rows: wanted.rows,
  };
}

/** Starts a session that outlives its viewers; the box keeps running when it ends. */
export async function startSession(
  core: Core,
  name: string,
  { session, spec }: StartSession,
): Promise<SessionStatus> {
  const { box, link } = await getLink(core, name);
  const started = await link.startSession(
    session,
    sessionFor(getAgent(core, box.spec.agent.name), agentArgs(box), spec),
  );
  await core.note("session.started", box, { session, argv: started.argv.slice(0, 32) });
  recordOutput(core, box, session);
  return started;
}

const agentArgs = (box: Box): readonly string[] => box.spec.agent.args;
