/** Speaking to the agent of a box: the next task, a text for its terminal, or "stop". */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { ResumeRun } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
import { requirePhase } from "../box/box-phases.ts";
import type { PauseParts, StartParts, Using } from "../using.ts";
import { resumeBox } from "../box/pause-box.ts";
import { getLink } from "../exec/run-in-box.ts";
import { boot } from "../boot/start-box.ts";
import { nextRun } from "./begin-run.ts";
import { getAgent } from "./get-agent.ts";

/** Goes on with the conversation of a box whose agent has ended. */
export function resumeRun(
  core: Using<StartParts | "getBox">,
  name: string,
  request: ResumeRun,
  from?: string,
): Promise<Box> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    const { run } = box;
    if (!run) throw noAgent(name);
    requirePhase(box, "stopped", "failed");
    const entry = getAgent(core, box.spec.agent.name);
    const mode = request.mode ?? (request.task === undefined ? run.mode : "headless");
    const next = nextRun(core, entry, run, { ...request, mode }, from);
    const running = await boot(core, box, { run: next, restarts: 0, ...terminalOf(box, request) });
    await core.note("agent.resumed", running, { turn: next.turns, conversation: next.conversation });
    return running;
  });
}

/** The current size of the viewer's terminal; planned anew at the start. */
const terminalOf = ({ main }: Box, { cols, rows }: ResumeRun): Pick<Box, "main"> | Record<string, never> =>
  main === undefined ? {} : { main: { ...main, cols, rows } };

/** Typed into its terminal, or the next task of the conversation when the agent has ended. */
export async function sendMessage(
  core: Using<StartParts | "getBox">,
  name: string,
  text: string,
  from?: string,
): Promise<Box> {
  const box = await core.getBox(name);
  if (!box.run) throw noAgent(name);
  if (box.state.phase === "stopped" || box.state.phase === "failed") {
    return resumeRun(core, name, { mode: "headless", task: text, cols: 120, rows: 40 }, from);
  }
  if (box.run.mode === "headless") {
    throw new AgentBoxError(
      "agent.busy",
      `The agent in "${name}" is working on its task and cannot be spoken to.`,
      {
        hint: `Wait until it is done, or stop it first: agentbox interrupt ${name}`,
      },
    );
  }
  const { link } = await getLink(core, name);
  const { submit } = getAgent(core, box.spec.agent.name).keys;
  // SECURITY: a text is only ever a text for the program that reads the terminal: escape sequences could make keys of it.
  const typed = text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
  // Before it is typed: the agent's hooks repeat it.
  core.conversations.asked(box, typed, from);
  await link.inputSession("main", pasted(typed));
  // Terminal programs take what comes at once for a paste, in which enter is no key.
  await new Promise<void>((resolve) => core.ports.clock.after(submitDelayMs, resolve));
  await link.inputSession("main", submit);
  core.agentWatch.asked(name);
  await core.note("agent.messaged", box, { text: printable(text.slice(0, 500)) });
  return box;
}

const submitDelayMs = 150;

/** Bracketed paste where there are several lines; each enter would submit otherwise. */
const pasted = (text: string): string => (text.includes("\n") ? `\u001b[200~${text}\u001b[201~` : text);

/** Stops what the agent is doing. An interactive one stays and waits; a headless one ends. */
export async function interruptAgent(
  core: Using<PauseParts | "agentProblems" | "agents" | "note">,
  name: string,
): Promise<void> {
  const { box, link } = await getLink(core, name);
  if (!box.run) throw noAgent(name);
  if (box.run.mode === "interactive") {
    await link.inputSession("main", getAgent(core, box.spec.agent.name).keys.interrupt);
    core.agentWatch.interrupted(name);
  } else {
    core.agentWatch.endBy(name, "interrupt");
    await endSession(core, box);
  }
  await core.note("agent.interrupted", box);
}

const killAfterMs = 5_000;

/** Asks a headless agent to end, and makes it: some never do. */
export async function endSession(core: Using<PauseParts>, { name, incarnation }: Box): Promise<void> {
  await thaw(core, name, incarnation);
  const link = core.live.get(name)?.link;
  if (!link?.isConnected) return;
  await link.signalSession("main", "INT");
  core.ports.clock.after(killAfterMs, () => {
    const live = core.live.get(name);
    if (live?.incarnation !== incarnation || live.link !== link) return;
    core.background(
      "ending an agent",
      link.signalSession("main", "KILL").catch(() => undefined),
    );
  });
}

/** A frozen agent hears nothing, and waiting for its end would take for ever. */
async function thaw(core: Using<PauseParts>, name: string, incarnation: string): Promise<void> {
  const box = await core.ports.store.findBox(name);
  if (box?.incarnation === incarnation && box.state.phase === "paused") await resumeBox(core, name);
}

const noAgent = (name: string): AgentBoxError =>
  new AgentBoxError("agent.not_running", `The box "${name}" has no agent to speak to.`, {
    hint: "Boxes made with run AGENT have one; a shell has none.",
  });
