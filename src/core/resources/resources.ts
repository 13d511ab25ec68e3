/** The usage of live boxes, sampled every few seconds only while a viewer looks. */
import type { Clock } from "../../base/clock.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { Turns } from "../../base/turns.ts";
import type { ResourceSample, ResourcesAnswer } from "../../contract/api/schemas/fleet.ts";
import type { Box } from "../../contract/box.ts";
import type { BoxStorage } from "../../ports/storage.ts";
import type { Store } from "../../ports/store.ts";
import type { LiveBox, Runtimes } from "../context.ts";
import type { RuntimeUsage } from "../../ports/runtime.ts";

/* The latest samples of one box, oldest first; older ones make room. */

/** Six minutes, when a sample is taken every four seconds. */
const maxSamples = 90;

class Samples {
  readonly #samples: ResourceSample[] = [];
  #before: { readonly cpuMs: number; readonly monotonicMs: number } | undefined;

  get all(): readonly ResourceSample[] {
    return this.#samples;
  }

  /** The first call only says from where to count: a percentage needs two. */
  add(usage: RuntimeUsage, now: { readonly wallMs: number; readonly monotonicMs: number }): void {
    const before = this.#before;
    this.#before = { cpuMs: usage.cpuMs, monotonicMs: now.monotonicMs };
    const tookMs = before === undefined ? 0 : now.monotonicMs - before.monotonicMs;
    // Where only living processes are counted, the sum shrinks when one ends: that is no negative work.
    const usedMs = before === undefined ? 0 : Math.max(0, usage.cpuMs - before.cpuMs);
    this.#samples.push({
      atMs: Math.round(now.wallMs),
      cpuPercent: tookMs > 0 ? Math.round((usedMs / tookMs) * 1000) / 10 : 0,
      memoryBytes: Math.max(0, Math.round(usage.memoryBytes)),
      processes: usage.processes,
    });
    if (this.#samples.length > maxSamples) this.#samples.shift();
  }
}

/** The part of Core that sampling needs. */
export interface ResourceContext {
  readonly ports: {
    readonly clock: Clock;
    readonly runtimes: Pick<Runtimes, "get">;
    readonly storage: Pick<BoxStorage, "usage">;
    readonly store: Pick<Store, "listBoxes">;
  };
  readonly live: ReadonlyMap<string, Pick<LiveBox, "incarnation">>;
  background(what: string, task: Promise<unknown>): void;
}

const everyMs = 4_000;
/** Sampling ends this long after the last question. */
const lookedAtMs = 30_000;
/** Where a round takes long (no control groups, many processes), the pause grows with it: a tenth of the time at most. */
const pauseFactor = 9;
const atATime = 4;
const diskEveryMs = 60_000;
/** As many as a sparkline shows. */
const sparkSamples = 20;

interface Watched {
  readonly incarnation: string;
  readonly samples: Samples;
  disk: { readonly bytes?: number; readonly measuredMs: number } | undefined;
}

export class Resources {
  readonly #core: ResourceContext;
  readonly #watched = new Map<string, Watched>();
  readonly #turns = new Turns(atATime);
  #askedMs = Number.NEGATIVE_INFINITY;
  #isSampling = false;

  constructor(core: ResourceContext) {
    this.#core = core;
  }

  /** The newest samples for sparklines. */
  sparks(
    box: Pick<Box, "name" | "incarnation">,
  ): { readonly cpu: number[]; readonly memory: number[] } | undefined {
    const samples = this.#samplesOf(box);
    if (samples.length === 0) return undefined;
    const latest = samples.slice(-sparkSamples);
    return {
      cpu: latest.map(({ cpuPercent }) => Math.round(cpuPercent)),
      memory: latest.map(({ memoryBytes }) => memoryBytes),
    };
  }

  async answer(box: Box): Promise<ResourcesAnswer> {
    this.asked();
    // The first question should not be answered with nothing.
    if (this.#samplesOf(box).length === 0) await this.#sample(box);
    const samples = [...this.#samplesOf(box)];
    const diskBytes = this.#diskOf(box);
    const last = samples.pop();
    if (last) samples.push(diskBytes === undefined ? last : { ...last, diskBytes });
    const { memoryBytes, cpus } = box.spec.resources;
    return {
      samples,
      ...omitUndefined({ memoryLimitBytes: memoryBytes, cpus }),
    };
  }

  /** A viewer looks at the list or at one box. */
  asked(): void {
    this.#askedMs = this.#core.ports.clock.monotonicMs();
    if (this.#isSampling) return;
    this.#isSampling = true;
    // Samples from before a long pause would make one step of it all.
    this.#watched.clear();
    this.#core.background("sampling boxes", this.#round());
  }

  async #round(): Promise<void> {
    const { clock, store } = this.#core.ports;
    const beganMs = clock.monotonicMs();
    try {
      for (const name of this.#watched.keys()) if (!this.#core.live.has(name)) this.#watched.delete(name);
      const boxes = this.#core.live.size === 0 ? [] : await store.listBoxes();
      await Promise.all(
        boxes.filter((box) => this.#isLive(box)).map((box) => this.#turns.run(() => this.#sample(box))),
      );
    } finally {
      this.#schedule(Math.max(everyMs, (clock.monotonicMs() - beganMs) * pauseFactor));
    }
  }

  #schedule(pauseMs: number): void {
    const { clock } = this.#core.ports;
    clock.after(pauseMs, () => {
      if (clock.monotonicMs() - this.#askedMs > lookedAtMs) this.#isSampling = false;
      else this.#core.background("sampling boxes", this.#round());
    });
  }

  /** A box that cannot be measured now has one sample less; it is no reason to measure none. */
  async #sample(box: Box): Promise<void> {
    const { clock, runtimes } = this.#core.ports;
    if (!this.#isLive(box)) return;
    const usage = await runtimes
      .get(box.spec.runtime)
      .then((runtime) => runtime.usage(box.name))
      .catch(() => undefined);
    if (usage === undefined || !this.#isLive(box)) return;
    let watched = this.#find(box);
    if (!watched) {
      watched = { incarnation: box.incarnation, samples: new Samples(), disk: undefined };
      this.#watched.set(box.name, watched);
    }
    watched.samples.add(usage, { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });
  }

  /** Counting files takes long, so it happens in the background, seldom, and only for a box that is looked at. */
  #diskOf(box: Box): number | undefined {
    const watched = this.#find(box);
    if (!watched) return undefined;
    const nowMs = this.#core.ports.clock.monotonicMs();
    if (watched.disk === undefined || nowMs - watched.disk.measuredMs > diskEveryMs) {
      watched.disk = { ...watched.disk, measuredMs: nowMs };
      const measured = this.#core.ports.storage.usage(box.name).then((bytes) => {
        watched.disk = { bytes, measuredMs: nowMs };
      });
      this.#core.background("measuring a box's disk", measured);
    }
    return watched.disk.bytes;
  }

  #samplesOf(box: Pick<Box, "name" | "incarnation">): readonly ResourceSample[] {
    return this.#find(box)?.samples.all ?? [];
  }

  #find({ name, incarnation }: Pick<Box, "name" | "incarnation">): Watched | undefined {
    const watched = this.#watched.get(name);
    // Usage from before a box was stopped is not its present usage.
    return watched?.incarnation === incarnation && this.#isLive({ name, incarnation }) ? watched : undefined;
  }

  #isLive({ name, incarnation }: Pick<Box, "name" | "incarnation">): boolean {
    return this.#core.live.get(name)?.incarnation === incarnation;
  }
}
