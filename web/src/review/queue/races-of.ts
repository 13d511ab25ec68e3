/** Which boxes run the same race: `agentbox race` calls them STEM-HEAT-AGENT, with a number when one agent runs twice. */
import type { BoxSummary } from "../../../../src/contract/api/schemas.ts";

export interface Race {
  /** Such as race-1. */
  readonly name: string;
  readonly boxes: readonly BoxSummary[];
}

/** The heat a box belongs to; undefined for one that only looks like it. */
function heatOf({ name, agent }: Pick<BoxSummary, "name" | "agent">): string | undefined {
  const [, heat, rest] = /^(.+?-\d+)-(.+)$/.exec(name) ?? [];
  const own = agent.split(/[\s@]/)[0] ?? agent;
  return rest === own || rest?.replace(/-\d+$/, "") === own ? heat : undefined;
}

export function racesOf(boxes: readonly BoxSummary[]): Race[] {
  const heats = new Map<string, BoxSummary[]>();
  for (const box of boxes) {
    const heat = heatOf(box);
    if (heat !== undefined) heats.set(heat, [...(heats.get(heat) ?? []), box]);
  }
  return [...heats]
    .filter(([, runners]) => runners.length > 1)
    .map(([name, runners]) => ({ name, boxes: runners.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }))
    .toSorted((a, b) => latest(b) - latest(a));
}

const latest = ({ boxes }: Race) => Math.max(...boxes.map(({ createdAtMs }) => createdAtMs));
