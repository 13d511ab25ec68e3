import { randomUUID } from "node:crypto";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { AgentEntry } from "../../contract/agent.ts";
import type { AgentRun } from "../../contract/agent-events.ts";
import type { StartRun } from "../../contract/api/schemas.ts";
import type { Using } from "../using.ts";

/** The first turn of a box's agent. */
export function firstRun(
  core: Using<"clock">,
  entry: AgentEntry,
  request: StartRun,
  from: string | undefined,
): AgentRun {
  return {
    ...turnOf(core, entry, request, from),
    turns: 1,
    // Known from the start where the agent takes ours, so that no crash can make us lose it.
    ...(entry.takesConversationId ? { conversation: randomUUID() } : {}),
  };
}

/** The next turn of the same conversation. */
export function nextRun(
  core: Using<"clock">,
  entry: AgentEntry,
  before: AgentRun,
  request: StartRun,
  from: string | undefined,
): AgentRun {
  return {
    ...turnOf(core, entry, request, from),
    turns: before.turns + 1,
    ...omitUndefined({ conversation: before.conversation }),
  };
}

function turnOf(
  core: Using<"clock">,
  entry: AgentEntry,
  { mode, task, timeoutMs }: StartRun,
  from: string | undefined,
): Omit<AgentRun, "turns"> {
  requireMode(entry, mode, task);
  const nowMs = core.ports.clock.nowMs();
  return {
    mode,
    ...omitUndefined({ task, from }),
    starts: 0,
    ...(timeoutMs === undefined ? {} : { timeoutMs, deadlineMs: nowMs + timeoutMs }),
    state: mode === "headless" ? "working" : "idle",
    stateSinceMs: nowMs,
  };
}

/** Refuses what the entry cannot do: a task for commands, no terminal for what needs one, no task without a terminal. */
export function requireMode(entry: AgentEntry, mode: StartRun["mode"], task: string | undefined): void {
  if (entry.kind === "command") {
    throw new AgentBoxError(
      "input.invalid",
      `${entry.title} works on no task; it runs the command after --.`,
      {
        hint: `Write: agentbox run ${entry.name} -- COMMAND`,
      },
    );
  }
  if (mode === "interactive") return;
  if (!entry.isHeadless) {
    throw new AgentBoxError("input.invalid", `${entry.title} cannot work without a terminal.`, {
      hint: `Run it without --task: agentbox run ${entry.name}`,
    });
  }
  if (task === undefined || task.trim() === "") {
    throw new AgentBoxError("input.invalid", "There is no task.", {
      hint: `Say what to do: agentbox run ${entry.name} --task "…"`,
    });
  }
}
