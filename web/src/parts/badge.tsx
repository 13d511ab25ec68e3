import type { ReactNode } from "react";
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";

export type Tone = "good" | "warn" | "bad" | "info" | "accent" | "plain";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`parts-badge parts-badge-${tone}`}>{children}</span>;
}

export type BoxWord =
  | "working"
  | "waiting for you"
  | "idle"
  | "stuck"
  | "done"
  | "running"
  | "paused"
  | "starting"
  | "stopping"
  | "stopped"
  | "failed";

/** The state of a box in people's words: the agent's own while the box runs, the box's otherwise. */
export function boxWord({
  phase,
  agentState,
  verdict,
}: Pick<BoxSummary, "phase" | "agentState" | "verdict">): BoxWord {
  if (phase === "creating" || phase === "starting") return "starting";
  if (phase === "stopping" || phase === "removing") return "stopping";
  if (phase === "failed") return "failed";
  if (phase === "paused") return "paused";
  if (phase === "stopped") {
    if (verdict === "done") return "done";
    return verdict === undefined || verdict === "interrupted" ? "stopped" : "failed";
  }
  if (agentState === undefined) return "running";
  return agentState === "waiting" ? "waiting for you" : agentState;
}

const tones = {
  working: "accent",
  "waiting for you": "warn",
  idle: "plain",
  stuck: "bad",
  done: "good",
  running: "info",
  paused: "plain",
  starting: "info",
  stopping: "plain",
  stopped: "plain",
  failed: "bad",
} as const satisfies Record<BoxWord, Tone>;

export function StateBadge({ box }: { box: Pick<BoxSummary, "phase" | "agentState" | "verdict"> }) {
  const word = boxWord(box);
  const isMoving = word === "working" || word === "starting";
  return (
    <Badge tone={tones[word]}>
      <span className={`parts-dot ${isMoving ? "parts-dot-moving" : ""}`} aria-hidden="true" />
      {word}
    </Badge>
  );
}
