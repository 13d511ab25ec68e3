/**
 * A runtime that runs nothing: boxes are entries in a closure, with a simulated boxd each. For tests of everything
 * above the runtime; it keeps no promise of isolation, and says so.
 */
import { AgentBoxError } from "../../../base/errors.ts";
import { BoxName, type Isolation } from "../../../contract/box.ts";
import {
  limitGuarantees,
  type Runtime,
  type RuntimeBox,
  type RuntimeModule,
  type RuntimeStatus,
} from "../../../ports/runtime.ts";
import { type SimulatedBoxd, startSimulatedBoxd } from "./simulated-boxd.ts";

interface MemoryBox {
  status: RuntimeStatus;
  boxd: SimulatedBoxd | undefined;
}

type Listener = (status: RuntimeStatus) => void;

const guarantees = ["network", "filesystem", "processes", "users", "capabilities", "syscalls", "terminal"];
const isolation: Isolation = {
  tier: "none",
  guarantees: [...guarantees, ...Object.values(limitGuarantees)].map((name) => ({
    name,
    isEnforced: false,
    by: "nothing is run",
  })),
};

function checkName(name: string): void {
  if (BoxName.safeParse(name).success) return;
  throw new AgentBoxError("box.name_invalid", `${JSON.stringify(name)} is not a name for a box.`);
}

function refuseLimits({ required }: RuntimeBox["resources"]): void {
  const limit = required.find((name) => name !== "disk");
  if (limit === undefined) return;
  throw new AgentBoxError("policy.unenforceable", `The memory runtime cannot enforce a limit on ${limit}.`, {
    hint: "Leave the limit out, or choose another runtime.",
  });
}

/** Boxes live as long as the module, so that they outlive every runtime opened from it. */
export function createMemoryModule(): RuntimeModule {
  const states = new Map<string, { boxes: Map<string, MemoryBox>; listeners: Set<Listener> }>();
  return {
    kind: "runtime",
    name: "memory",
    apiVersion: 1,
    description: "Runs nothing; for tests of everything above the runtime.",
    probe: async () => ({ status: "ready", version: "1", detail: "always here, runs nothing" }),
    async open({ boxesDir }) {
      const state = states.get(boxesDir) ?? { boxes: new Map(), listeners: new Set() };
      states.set(boxesDir, state);
      return openMemory(state.boxes, state.listeners);
    },
  };
}

function openMemory(boxes: Map<string, MemoryBox>, listeners: Set<Listener>): Runtime {
  const own = new Set<Listener>();
  const end = (name: string, exitCode: number): void => {
    const box = boxes.get(name);
    if (box === undefined || box.status.phase === "stopped") return;
    box.boxd?.stop();
    box.boxd = undefined;
    box.status = { name, phase: "stopped", exitCode };
    for (const listener of listeners) listener(box.status);
  };
  const getAlive = (name: string): MemoryBox => {
    checkName(name);
    const box = boxes.get(name);
    if (box === undefined) throw new AgentBoxError("box.not_found", `There is no box "${name}".`);
    if (box.status.phase !== "stopped") return box;
    throw new AgentBoxError("box.wrong_phase", `Box "${name}" is not running.`);
  };
  return {
    name: "memory",
    isolation: () => isolation,
    async start(box) {
      checkName(box.name);
      const before = boxes.get(box.name);
      if (before !== undefined && before.status.phase !== "stopped") return before.status;
      refuseLimits(box.resources);
      const boxd = startSimulatedBoxd(box.dirs.link, () => end(box.name, 0));
      const status: RuntimeStatus = { name: box.name, phase: "running" };
      boxes.set(box.name, { status, boxd });
      return status;
    },
    async stop(name) {
      checkName(name);
      end(name, 0);
    },
    async pause(name) {
      const box = getAlive(name);
      box.boxd?.pause();
      box.status = { name, phase: "paused" };
    },
    async resume(name) {
      const box = getAlive(name);
      box.boxd?.resume();
      box.status = { name, phase: "running" };
    },
    async remove(name) {
      checkName(name);
      end(name, 137);
      boxes.delete(name);
    },
    async find(name) {
      checkName(name);
      return boxes.get(name)?.status;
    },
    list: async () => [...boxes.values()].map(({ status }) => status),
    async usage(name) {
      checkName(name);
      const phase = boxes.get(name)?.status.phase;
      return phase === undefined || phase === "stopped"
        ? undefined
        : { cpuMs: 0, memoryBytes: 0, processes: 1 };
    },
    onEnd(listener) {
      // A wrapper of its own, because the same function may listen twice.
      const entry: Listener = (status) => listener(status);
      listeners.add(entry);
      own.add(entry);
      return () => listeners.delete(entry);
    },
    async [Symbol.asyncDispose]() {
      for (const entry of own) listeners.delete(entry);
    },
  };
}

export default createMemoryModule();
