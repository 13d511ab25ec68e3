/** Makes the box, or the boxes of a race, and says how far it is. */
import { useRef, useState } from "react";
import { AgentBoxError, isAgentBoxError, toAgentBoxError } from "../../../src/base/errors.ts";
import { planAll } from "../../../src/client/plan-problems.ts";
import type { CreateBoxInput, CreatedBox } from "../../../src/contract/api/schemas.ts";
import { planRunners, raceOf } from "../../../src/contract/race.ts";
import type { BoxEvent } from "../../../src/contract/events.ts";
import { client } from "../api/client.ts";
import { useLiveEvents } from "../api/live.ts";
import { addToQueue } from "./add-to-queue.ts";
import { requestFor } from "./draft.ts";
import { type Step, create, solve } from "./solving.ts";

export type MadeBox = Omit<CreatedBox, "command">;

export type Making =
  | { readonly phase: "idle" }
  | { readonly phase: "working"; readonly steps: readonly Step[] }
  | { readonly phase: "failed"; readonly steps: readonly Step[]; readonly error: AgentBoxError };

/** The step of making a box that an event of the log stands for. */
const eventTitles: Readonly<Record<string, string>> = {
  "box.created": "Registered",
  "box.prepared": "Workspace filled",
  "box.starting": "Starting",
  "boot.started": "Booted",
  "boot.sealed": "Locked down",
  "service.changed": "Service",
  "session.started": "Agent started",
  "box.started": "Running",
  "box.failed": "Failed to start",
};

const recheckMs = 2_000;

/** A large workspace takes longer than an answer may; the box is made all the same, and this looks until it is. */
async function untilMade(name: string): Promise<MadeBox> {
  for (;;) {
    const { box } = await client.getBox(name);
    if (box.state.phase === "failed") throw new AgentBoxError("box.start_failed", box.state.message);
    if (box.state.phase !== "creating" && box.state.phase !== "starting")
      return { box, leftBehind: 0, warnings: [] };
    await new Promise((resolve) => setTimeout(resolve, recheckMs));
  }
}

export interface RaceAsked {
  readonly agents: readonly string[];
  readonly count: number;
}

export function useMaking() {
  const [making, setMaking] = useState<Making>({ phase: "idle" });
  const stop = useRef<AbortController>(undefined);
  /** The box that is being made, whose events are steps. */
  const ours = useRef<{ name?: string | undefined; agent?: string | undefined } | undefined>(undefined);

  const report = (step: Step) =>
    setMaking((now) => {
      if (now.phase === "idle") return now;
      const isKnown = now.steps.some(({ key }) => key === step.key);
      const steps = isKnown
        ? now.steps.map((old) => (old.key === step.key ? step : old))
        : [...now.steps, step];
      return { ...now, steps };
    });

  useLiveEvents((event) => {
    const box = ours.current;
    if (box === undefined || !isOurs(event, box)) return;
    box.name = event.box;
    const title = eventTitles[event.type];
    if (title === undefined) return;
    const { name, state } = event.data as { name?: string; state?: string };
    const detail = event.type === "service.changed" ? `${name ?? ""} ${state ?? ""}` : undefined;
    report({ key: `${event.type} ${detail ?? ""}`, title, detail, isDone: event.type !== "box.failed" });
  });

  /** Undefined when it failed; why is in `making`. */
  const attempt = async <T>(act: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> => {
    stop.current = new AbortController();
    setMaking({ phase: "working", steps: [] });
    try {
      return await act(stop.current.signal);
    } catch (thrown) {
      const error = toAgentBoxError(thrown);
      setMaking((now) => ({ phase: "failed", steps: "steps" in now ? now.steps : [], error }));
      return undefined;
    }
  };

  const makeOne = async (request: CreateBoxInput, signal: AbortSignal): Promise<MadeBox> => {
    try {
      return await create(request, report, signal);
    } catch (thrown) {
      const name = request.name ?? ours.current?.name;
      if (name === undefined || !isAgentBoxError(thrown, "request.timed_out")) throw thrown;
      return untilMade(name);
    }
  };

  const make = (request: CreateBoxInput, agent: string | undefined): Promise<MadeBox | undefined> => {
    ours.current = { name: request.name, agent };
    return attempt((signal) => makeOne(request, signal));
  };

  /** Makes all boxes of a race or none. Returns the name of the race. */
  const race = (
    { name: stem, ...request }: CreateBoxInput,
    { agents, count }: RaceAsked,
  ): Promise<string | undefined> => {
    ours.current = undefined;
    return attempt(async (signal) => {
      const plan = { key: "plan", title: `Planning ${agents.length * count} boxes` };
      report({ ...plan, isDone: false });
      const taken = (await client.listBoxes()).map((box) => box.name);
      const runners = planRunners({ agents, count, stem }, taken);
      const inputs = runners.map(({ agent, box }) => ({ ...requestFor(request, agent), name: box }));
      const planned = await planAll(client, inputs);
      // Several runs of one agent have the same needs.
      for (const one of planned.filter((_, index) => index % count === 0)) await solve(one, report, signal);
      report({ ...plan, isDone: true });
      for (const input of inputs) {
        const step = { key: input.name, title: `Starting ${input.name}` };
        report({ ...step, isDone: false });
        await makeOne(input, signal);
        report({ ...step, title: `Started ${input.name}`, isDone: true });
      }
      return raceOf({ name: runners[0]!.box, agent: runners[0]!.agent });
    });
  };
  /** Whether it was added. */
  const queue = async (request: CreateBoxInput, task: string): Promise<boolean> => {
    ours.current = undefined;
    return (await attempt((signal) => addToQueue(request, [task], report, signal))) !== undefined;
  };
  return {
    making,
    make,
    race,
    queue,
    giveUp: () => stop.current?.abort(),
    reset: () => setMaking({ phase: "idle" }),
  };
}

/** A box without a chosen name is known by its first event: the one of this agent that was made after the request. */
const isOurs = (
  { box, type, data }: BoxEvent,
  ours: { name?: string | undefined; agent?: string | undefined },
): boolean =>
  ours.name === undefined
    ? type === "box.created" && (ours.agent === undefined || data["agent"] === ours.agent)
    : box === ours.name;
