/** Which boxes run the same race. */
import type { BoxSummary } from "../../../../src/contract/api/schemas.ts";
import { raceOf } from "../../../../src/contract/race.ts";

export interface Race {
  /** Such as race-1. */
  readonly name: string;
  readonly boxes: readonly BoxSummary[];
}

export function racesOf(boxes: readonly BoxSummary[]): Race[] {
  const heats = new Map<string, BoxSummary[]>();
  for (const box of boxes) {
    const heat = raceOf(box);
    if (heat !== undefined) heats.set(heat, [...(heats.get(heat) ?? []), box]);
  }
  return [...heats]
    .filter(([, runners]) => runners.length > 1)
    .map(([name, runners]) => ({ name, boxes: runners.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }))
    .toSorted((a, b) => latest(b) - latest(a));
}

const latest = ({ boxes }: Race) => Math.max(...boxes.map(({ createdAtMs }) => createdAtMs));
