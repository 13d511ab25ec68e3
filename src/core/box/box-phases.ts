import { AgentBoxError } from "../../base/errors.ts";
import type { Box, BoxPhase, BoxState } from "../../contract/box.ts";

/** The closed state machine of a box: which phase may follow which. */
const followers: Record<BoxPhase, readonly BoxPhase[]> = {
  creating: ["stopped", "starting", "failed", "removing"],
  stopped: ["starting", "removing"],
  starting: ["running", "stopping", "stopped", "failed", "removing"],
  running: ["paused", "stopping", "stopped", "removing"],
  paused: ["running", "stopping", "stopped", "removing"],
  stopping: ["stopped", "failed", "removing"],
  failed: ["starting", "removing"],
  removing: [],
};

export const canFollow = (from: BoxPhase, to: BoxPhase): boolean => followers[from].includes(to);

/** The box with its next state; a step the machine does not know is refused. */
export function moveTo(box: Box, state: BoxState): Box {
  if (!canFollow(box.state.phase, state.phase)) {
    throw new AgentBoxError(
      "box.wrong_phase",
      `The box "${box.name}" is ${box.state.phase} and cannot become ${state.phase}.`,
      { hint: hintFor(box), facts: { box: box.name, phase: box.state.phase } },
    );
  }
  return { ...box, state };
}

/** Refuses unless the box is in one of these phases. */
export function requirePhase(box: Box, ...phases: readonly BoxPhase[]): void {
  if (phases.includes(box.state.phase)) return;
  throw new AgentBoxError(
    "box.wrong_phase",
    `The box "${box.name}" is ${box.state.phase}, not ${phases.join(" or ")}.`,
    {
      hint: hintFor(box),
      facts: { box: box.name, phase: box.state.phase },
    },
  );
}

const hints: Record<BoxPhase, (name: string) => string> = {
  stopped: (name) => `Start it: agentbox start ${name}`,
  failed: (name) => `Start it: agentbox start ${name}`,
  paused: (name) => `Let it go on: agentbox resume ${name}`,
  running: (name) => `Stop it first: agentbox stop ${name}`,
  creating: (name) => `Wait until it is done: agentbox inspect ${name}`,
  starting: (name) => `Wait until it is done: agentbox inspect ${name}`,
  stopping: (name) => `Wait until it is done: agentbox inspect ${name}`,
  removing: (name) => `Wait until it is done: agentbox inspect ${name}`,
};

const hintFor = ({ name, state }: Box): string => hints[state.phase](name);
