/** Races: the same task for several agents. How their boxes are named, and how they are known again by their names. */
import { AgentBoxError } from "../base/errors.ts";

export const mostRunners = 16;

/** One box of a race. */
export interface Runner {
  readonly agent: string;
  /** STEM-HEAT-AGENT, with a number when one agent runs several times. */
  readonly box: string;
}

/** The runners of a new race: each agent so many times, in the first heat whose names are free. */
export function planRunners(
  { agents, count, stem = "race" }: { agents: readonly string[]; count: number; stem?: string | undefined },
  taken: readonly string[],
): Runner[] {
  const total = agents.length * count;
  if (total < 2 || total > mostRunners) {
    throw new AgentBoxError("input.invalid", `A race needs 2 to ${mostRunners} runners, not ${total}.`, {
      hint: "Choose several agents, or let one of them run several times: --agents claude,codex, or --agents claude --n 3.",
    });
  }
  let heat = 1;
  while (taken.some((name) => name.startsWith(`${stem}-${heat}-`))) heat += 1;
  return agents.flatMap((agent) =>
    Array.from({ length: count }, (_, index) => ({
      agent,
      box: `${stem}-${heat}-${agent}${count > 1 ? `-${index + 1}` : ""}`,
    })),
  );
}

/** The race that a box belongs to, such as race-1; undefined for one that only looks like it. */
export function raceOf({
  name,
  agent,
}: {
  readonly name: string;
  readonly agent: string;
}): string | undefined {
  const [, heat, rest] = /^(.+?-\d+)-(.+)$/.exec(name) ?? [];
  const own = agent.split(/[\s@]/)[0] ?? agent;
  return rest === own || rest?.replace(/-\d+$/, "") === own ? heat : undefined;
}
