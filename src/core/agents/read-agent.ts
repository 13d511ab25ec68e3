/** Turns what an agent prints, or its hooks append, into events. All of it comes from the box: cut, checked, bounded. */
import { LineSplitter } from "../../base/line-splitter.ts";
import { printableLines } from "../../base/printable.ts";
import type { LineReader } from "../../contract/agent.ts";
import { AgentEvent, maxSaidText } from "../../contract/agent-events.ts";
import type { Box } from "../../contract/box.ts";
import type { Using } from "../using.ts";
import { getAgent } from "./get-agent.ts";

/** Longer lines are no event of any agent; tool results of megabytes come in the agent's own log. */
const maxLine = 4 * 2 ** 20;

/** Takes the bytes of one source in order; undefined when the agent says nothing there that we can read. */
export function readerFor(
  core: Using<
    "agentProblems" | "agentWatch" | "agents" | "conversations" | "noteFromAgent" | "turnCheckpoints"
  >,
  box: Box,
  source: string,
): ((chunk: Uint8Array) => void) | undefined {
  if (!box.run) return undefined;
  const entry = getAgent(core, box.spec.agent.name);
  const makeReader =
    source === "hooks"
      ? entry.readHooks
      : source === "main" && box.run.mode === "headless"
        ? entry.readOutput
        : undefined;
  if (!makeReader) return undefined;
  const read = makeReader();
  const lines = new LineSplitter(maxLine);
  return (chunk) => {
    for (const line of lines.push(chunk)) for (const event of safely(read, line)) take(core, box, event);
  };
}

/** SECURITY: a reader sees hostile text; one that fails on it must not take the daemon's turn with it. */
function safely(read: LineReader, line: string): readonly AgentEvent[] {
  try {
    return read(line);
  } catch {
    return [];
  }
}

/**
 * SECURITY: an id is told by the box, and becomes an argument and part of a path when the conversation is resumed. So it
 * is no flag, no path, and nothing that a program could read otherwise than as a name.
 */
const conversationId = /^[A-Za-z0-9_](?:[A-Za-z0-9_:@=+-]|\.(?!\.))*$/;

function take(
  core: Using<"agentWatch" | "conversations" | "noteFromAgent" | "turnCheckpoints">,
  box: Box,
  received: AgentEvent,
): void {
  const parsed = AgentEvent.safeParse(cleaned(received));
  if (!parsed.success) return;
  const event = parsed.data;
  if (event.kind === "session_started" && !conversationId.test(event.conversation)) return;
  core.agentWatch.noteEvent(box.name, event);
  // First, so that a reader that is woken by the event finds the entry.
  core.conversations.record(box, event);
  core.noteFromAgent(box, event);
  // At a terminal the box goes on after each turn; without one the end of the run is the moment.
  if (event.kind === "turn_done" && box.run?.mode === "interactive") {
    core.conversations.turnEnded(box);
    core.turnCheckpoints.ended(box);
  }
}

function cleaned(event: AgentEvent): unknown {
  return Object.fromEntries(
    Object.entries(event).map(([key, value]) => [
      key,
      typeof value === "string" ? printableLines(value.slice(0, maxSaidText)).slice(0, maxSaidText) : value,
    ]),
  );
}
