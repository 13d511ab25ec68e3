/** Makes the box, with what it needs before: an agent that is missing is installed, an image that is missing is built. */
import { useRef, useState } from "react";
import { AgentBoxError, isAgentBoxError, toAgentBoxError } from "../../../src/base/errors.ts";
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import type { CreateBoxInput, CreatedBox } from "../../../src/contract/api/schemas.ts";
import { isRemediable, problemsOf } from "../../../src/contract/plan.ts";
import type { BoxEvent } from "../../../src/contract/events.ts";
import { client } from "../api/client.ts";
import { useLiveEvents } from "../api/live.ts";

export interface Step {
  readonly key: string;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly isDone: boolean;
}

export type MadeBox = Omit<CreatedBox, "command">;

export type Making =
  | { readonly phase: "idle" }
  | { readonly phase: "working"; readonly steps: readonly Step[] }
  | { readonly phase: "failed"; readonly steps: readonly Step[]; readonly error: AgentBoxError }
  | { readonly phase: "done"; readonly steps: readonly Step[]; readonly created: MadeBox };

/** What an event of the log says about how far the box is. */
const eventTitles: Readonly<Record<string, string>> = {
  "box.created": "Registered",
  "box.prepared": "Workspace filled",
  "box.starting": "Starting",
  "boot.started": "Booted",
  "boot.sealed": "Sealed: what runs now cannot change the box",
  "service.changed": "Service",
  "session.started": "Agent started",
  "box.started": "Running",
  "box.failed": "Did not come up",
};

type Report = (step: Step) => void;

async function install(facts: AgentBoxError["facts"], report: Report, signal: AbortSignal): Promise<void> {
  const {
    agent = "",
    version,
    digest,
  } = (facts ?? {}) as { agent?: string; version?: string; digest?: string };
  const step = { key: "install", title: `Installing ${agent}` };
  report({ ...step, isDone: false });
  const what = {
    // A version that only this project wants does not become that of every other.
    keepPin: true,
    ...omitUndefined({ version, digest }),
  };
  for await (const line of client.installAgent(agent, what, signal)) {
    if (line.type === "error") throw AgentBoxError.fromBody(line.error);
    if (line.type === "done") return report({ ...step, title: `Installed ${agent}`, isDone: true });
    report({ ...step, detail: line.message, isDone: false });
  }
  throw new AgentBoxError("tool.install_failed", `The daemon went away while it installed ${agent}.`);
}

async function build(request: CreateBoxInput, report: Report, signal: AbortSignal): Promise<void> {
  const { projectDir, manifest, flags, trust } = request;
  const step = { key: "build", title: "Building the image" };
  report({ ...step, isDone: false });
  const what = JSON.parse(JSON.stringify({ projectDir, manifest, flags, trust })) as object;
  for await (const line of client.buildImage(what, signal)) {
    if (line.type === "error") throw AgentBoxError.fromBody(line.error);
    if (line.type === "done") return report({ ...step, title: "Built the image", isDone: true });
    report({ ...step, detail: line.message, isDone: false });
  }
  throw new AgentBoxError("image.build_failed", "The daemon went away while it built the image.");
}

async function create(
  request: CreateBoxInput,
  report: Report,
  signal: AbortSignal,
  tried: readonly string[] = [],
): Promise<CreatedBox> {
  try {
    return await client.createBox(request);
  } catch (error) {
    const isSolvable =
      isAgentBoxError(error) && error.code !== "trust.required" && problemsOf(error).every(isRemediable);
    if (!isSolvable || tried.includes(error.code)) throw error;
    if (error.code === "tool.not_installed") await install(error.facts, report, signal);
    else await build(request, report, signal);
    return create(request, report, signal, [...tried, error.code]);
  }
}

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

export function useMaking() {
  const [making, setMaking] = useState<Making>({ phase: "idle" });
  const stop = useRef<AbortController>(undefined);
  const box = useRef<{ name?: string | undefined; agent?: string | undefined }>({});

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
    // The answer can be there before the last events are.
    if (making.phase === "idle" || !isOurs(event, box.current)) return;
    box.current.name = event.box;
    const title = eventTitles[event.type];
    if (title === undefined) return;
    const { name, state } = event.data as { name?: string; state?: string };
    const detail = event.type === "service.changed" ? `${name ?? ""} ${state ?? ""}` : undefined;
    report({ key: `${event.type} ${detail ?? ""}`, title, detail, isDone: event.type !== "box.failed" });
  });

  const make = async (request: CreateBoxInput, agent: string | undefined) => {
    stop.current = new AbortController();
    box.current = { name: request.name, agent };
    setMaking({ phase: "working", steps: [] });
    try {
      const created: MadeBox = await create(request, report, stop.current.signal).catch((thrown: unknown) => {
        const { name } = box.current;
        if (name === undefined || !isAgentBoxError(thrown, "request.timed_out")) throw thrown;
        return untilMade(name);
      });
      setMaking((now) => ({ phase: "done", steps: "steps" in now ? now.steps : [], created }));
    } catch (thrown) {
      const error = toAgentBoxError(thrown);
      setMaking((now) => ({ phase: "failed", steps: "steps" in now ? now.steps : [], error }));
    }
  };
  return { making, make, giveUp: () => stop.current?.abort(), reset: () => setMaking({ phase: "idle" }) };
}

/** A box without a chosen name is known by its first event: the one of this agent that was made after the request. */
const isOurs = (
  { box, type, data }: BoxEvent,
  ours: { name?: string | undefined; agent?: string | undefined },
): boolean =>
  ours.name === undefined
    ? type === "box.created" && (ours.agent === undefined || data["agent"] === ours.agent)
    : box === ours.name;
