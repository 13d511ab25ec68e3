import type { Clock } from "../../base/clock.ts";
import { TokenBucket } from "../../base/rate.ts";
import type { Box } from "../../contract/box.ts";
import type { NewEvent } from "../../contract/events.ts";

/**
 * How much the host keeps of what a box does, in bytes. SECURITY: a limit on a box's disk would be none if the box could
 * have as much as it likes written beside it, as logs, checkpoints and events.
 */
export interface KeptBytes {
  /** Logs of all its sessions and services. */
  readonly logs: number;
  /** Checkpoints that are taken by themselves; those that a person asks for may take as much again. */
  readonly checkpoints: number;
  /** The bytes that the box may cause in the event log at once; after that, `eventBytesPerSecond`. */
  readonly events: number;
  /** The same for questions to people and for what became of secrets. */
  readonly receipts: number;
}

const mib = 2 ** 20;
const unlimited: KeptBytes = {
  logs: 128 * mib,
  checkpoints: 8 * 1024 * mib,
  events: 64 * mib,
  receipts: 16 * mib,
};

/** 22 MB a day: more than an agent says that never sleeps, and too little to fill a disk with. */
const eventBytesPerSecond = 256;
/** A checkpoint takes this much besides its objects. */
export const checkpointOverhead = 16 * 1024;

export function keptBytes(diskBytes: number | undefined): KeptBytes {
  if (diskBytes === undefined) return unlimited;
  return {
    logs: Math.min(unlimited.logs, Math.max(8 * mib, diskBytes / 4)),
    // The work may be as large as the disk, and must come out of the box at least once.
    checkpoints: Math.min(unlimited.checkpoints, diskBytes),
    events: Math.min(unlimited.events, Math.max(2 * mib, diskBytes / 16)),
    receipts: Math.min(unlimited.receipts, Math.max(mib, diskBytes / 64)),
  };
}

/** SECURITY: questions and secrets apart, or a box could use up what its real uses are written by with other words. */
export type EventShare = "events" | "receipts";

/** How much of the event log each box may still cause, from its first start to its removal, however often it starts. */
export class EventBytes {
  readonly #clock: () => Clock;
  readonly #boxes = new Map<string, Readonly<Record<EventShare, TokenBucket>>>();

  constructor(clock: () => Clock) {
    this.#clock = clock;
  }

  /** Idempotent. */
  open({ incarnation, spec }: Box): void {
    if (this.#boxes.has(incarnation)) return;
    const kept = keptBytes(spec.resources.diskBytes);
    const share = (of: EventShare) => new TokenBucket(eventBytesPerSecond, kept[of], this.#clock());
    this.#boxes.set(incarnation, { events: share("events"), receipts: share("receipts") });
  }

  forget({ incarnation }: Box): void {
    this.#boxes.delete(incarnation);
  }

  /** Whether there is room for one more. A box that never started, or is gone, says nothing any more. */
  hasRoom(incarnation: string, of: EventShare = "events"): boolean {
    return this.#boxes.get(incarnation)?.[of].covers(1) !== false;
  }

  spend(event: NewEvent, of: EventShare = "events"): void {
    this.#boxes.get(event.incarnation ?? "")?.[of].spend(JSON.stringify(event).length);
  }
}
