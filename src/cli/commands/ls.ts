import { printable } from "../../base/printable.ts";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import { needsOf } from "../../contract/needs.ts";
import type { RunCommand } from "../command.ts";
import { type Style, widthOf } from "../render/style.ts";
import { age, renderTable, shorten, tilde } from "../render/table.ts";

export const run: RunCommand = async ({ screen, connect, env }) => {
  const boxes = [...(await (await connect()).listBoxes())].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (screen.isJson) screen.printJson({ boxes });
  else if (boxes.length === 0) screen.print("No boxes yet. Make one with: agentbox run shell");
  else {
    const { style, size } = screen;
    screen.print(renderBoxes(boxes, { nowMs: Date.now(), home: env.userHome, style, width: size.cols }));
    const { length: needs } = needsOf(boxes);
    if (needs > 0) screen.print(`\nNeeds you: ${needs}. See: agentbox inbox`);
  }
  return 0;
};

export function phaseText({
  phase,
  reason,
  exitCode,
  agentState,
  verdict,
}: Pick<BoxSummary, "phase" | "reason" | "exitCode" | "agentState" | "verdict">): string {
  if (phase === "running" && agentState !== undefined)
    return agentState === "waiting" ? "waiting for you" : agentState;
  if (phase !== "stopped") return phase;
  if (verdict !== undefined) return verdict.replaceAll("_", " ");
  if (exitCode !== undefined) return `${reason ?? "stopped"} (${exitCode})`;
  return reason === undefined || reason === "requested" ? "stopped" : reason;
}

export function paintPhase(phase: string, text: string, style: Style): string {
  if (phase === "running") return style.green(text);
  if (phase === "failed") return style.red(text);
  return phase === "stopped" ? style.dim(text) : style.yellow(text);
}

export interface BoxTableOptions {
  readonly nowMs: number;
  readonly home: string;
  readonly style: Style;
  readonly width: number;
}

/** The project comes last and takes the room that is left, because it is the widest and can be cut. */
export function renderBoxes(
  boxes: readonly BoxSummary[],
  { nowMs, home, style, width }: BoxTableOptions,
): string {
  const rows = boxes.map((box) => [
    style.bold(shorten(box.name, 28)),
    paintPhase(box.phase, phaseText(box), style),
    box.agent,
    box.runtime,
    age(box.sinceMs, nowMs),
  ]);
  const head = ["NAME", "STATE", "AGENT", "RUNTIME", "SINCE"].map(style.dim);
  const taken = widthOf(renderTable([head, ...rows].map((row) => [...row, "|"])).split("\n")[0]!);
  const available = Math.max(12, width - taken + 1);
  const projects = boxes.map((box) => shorten(printable(tilde(box.projectDir ?? "-", home)), available));
  return renderTable([
    [...head, style.dim("PROJECT")],
    ...rows.map((row, index) => [...row, projects[index]!]),
  ]);
}
