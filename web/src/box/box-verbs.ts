/** The actions that a box's phase allows. Pure; the daemon decides again. */
import type { AgentState } from "../../../src/contract/agent-events.ts";
import type { BoxPhase } from "../../../src/contract/box.ts";

export type BoxVerb = "start" | "stop" | "restart" | "pause" | "resume" | "interrupt";

const byPhase: Readonly<Partial<Record<BoxPhase, readonly BoxVerb[]>>> = {
  stopped: ["start"],
  failed: ["start"],
  starting: ["stop"],
  running: ["pause", "restart", "stop"],
  paused: ["resume", "stop"],
};

export function verbsFor(phase: BoxPhase, agentState: AgentState | undefined): readonly BoxVerb[] {
  const verbs = byPhase[phase] ?? [];
  const isBusy = phase === "running" && (agentState === "working" || agentState === "stuck");
  return isBusy ? ["interrupt", ...verbs] : verbs;
}

/** A box that runs, or may be running, is removed only by force. */
export const needsForce = (phase: BoxPhase): boolean => phase !== "stopped" && phase !== "failed";
