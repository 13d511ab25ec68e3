/**
 * Checkpoints at the end of an agent's turns. SECURITY: a turn is what the box says, and it can say so without end. One is
 * taken at a time, the next one has to wait when there were many, and turns that end meanwhile are all in it.
 */
import { TokenBucket } from "../../base/rate.ts";
import type { Box } from "../../contract/box.ts";
import type { LiveBox } from "../context.ts";
import type { RecordParts, Using } from "../using.ts";
import { takeQuietly } from "./checkpoint-over-link.ts";

type Parts = Using<
  RecordParts | "background" | "live" | "locked" | "noteFromBox" | "report" | "reviews" | "storage"
>;

const perSecond = 0.1;
const burst = 20;

interface Turns {
  readonly rate: TokenBucket;
  isWanted: boolean;
  isTaking: boolean;
}

export class TurnCheckpoints {
  readonly #core: Parts;
  readonly #turns = new WeakMap<LiveBox, Turns>();

  readonly #takeNow: typeof takeQuietly;

  constructor(core: Parts, take: typeof takeQuietly = takeQuietly) {
    this.#core = core;
    this.#takeNow = take;
  }

  /** A turn has ended: what it changed is kept, now or with the next one. */
  ended(box: Box): void {
    const live = this.#core.live.get(box.name);
    if (live?.incarnation !== box.incarnation) return;
    const turns = this.#turnsOf(live);
    turns.isWanted = true;
    if (!turns.isTaking) this.#core.background("taking checkpoints", this.#take(box, live, turns));
  }

  async #take(box: Box, live: LiveBox, turns: Turns): Promise<void> {
    turns.isTaking = true;
    try {
      while (turns.isWanted && live.link.isConnected) {
        const waitMs = turns.rate.spend(1);
        if (waitMs > 0) await new Promise<void>((resolve) => this.#core.ports.clock.after(waitMs, resolve));
        turns.isWanted = false;
        await this.#takeNow(this.#core, box, live.link, "turn");
      }
    } finally {
      turns.isTaking = false;
    }
  }

  #turnsOf(live: LiveBox): Turns {
    const known = this.#turns.get(live);
    if (known) return known;
    const rate = new TokenBucket(perSecond, burst, this.#core.ports.clock);
    const turns: Turns = { rate, isWanted: false, isTaking: false };
    this.#turns.set(live, turns);
    return turns;
  }
}
