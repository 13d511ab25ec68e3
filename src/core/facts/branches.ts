/**
 * The branch each box is on, as its workspace says. Read behind the answer, one small file a box, and again only after
 * something has happened in the box: a list never waits for a disk.
 */
import type { Clock } from "../../base/clock.ts";
import { printable } from "../../base/printable.ts";
import { Turns } from "../../base/turns.ts";
import type { Box } from "../../contract/box.ts";
import { hasOwnGit } from "../../contract/guarded-paths.ts";
import type { BoxEvent, EventType } from "../../contract/events.ts";
import type { BoxStorage } from "../../ports/storage.ts";

export interface BranchContext {
  readonly ports: { readonly clock: Clock; readonly storage: Pick<BoxStorage, "branch"> };
  background(what: string, task: Promise<unknown>): void;
}

/** After these the box may be on another branch; `agent.event` counts when a tool has answered. */
const moving: ReadonlySet<EventType> = new Set<EventType>([
  "box.prepared",
  "box.started",
  "checkpoint.taken",
  "checkpoint.restored",
  "exec.ended",
  "session.ended",
  "agent.ended",
  "agent.event",
]);
const everyMs = 2_000;
const atATime = 8;

interface Known {
  branch: string | undefined;
  isStale: boolean;
  readMs: number;
}

export class Branches {
  readonly #core: BranchContext;
  readonly #boxes = new Map<string, Known>();
  readonly #turns = new Turns(atATime);

  constructor(core: BranchContext) {
    this.#core = core;
  }

  noticed({ type, incarnation, data }: BoxEvent): void {
    if (incarnation === undefined) return;
    if (type === "box.removed") this.#boxes.delete(incarnation);
    const known = this.#boxes.get(incarnation);
    if (known && moving.has(type) && (type !== "agent.event" || data["kind"] === "tool_answered"))
      known.isStale = true;
  }

  /** The facts known now; those that are missing or may have changed are read for the next time. */
  find(box: Box): string | undefined {
    const { incarnation } = box;
    const nowMs = this.#core.ports.clock.monotonicMs();
    let known = this.#boxes.get(incarnation);
    if (!known) {
      known = { branch: undefined, isStale: true, readMs: Number.NEGATIVE_INFINITY };
      this.#boxes.set(incarnation, known);
    }
    if (known.isStale && nowMs - known.readMs >= everyMs) {
      known.isStale = false;
      known.readMs = nowMs;
      this.#core.background("reading a branch", this.#read(box, known));
    }
    return known.branch;
  }

  async #read(box: Box, known: Known): Promise<void> {
    const { name, spec } = box;
    const { mode, source } = spec.workspace;
    const mounted = mode === "mount" && !hasOwnGit(box) ? source : undefined;
    const branch = await this.#turns.run(() => this.#core.ports.storage.branch(name, { mounted }));
    known.branch = branch === undefined ? undefined : printable(branch);
  }
}
