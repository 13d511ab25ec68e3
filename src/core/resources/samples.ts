/** The latest samples of one box, oldest first; older ones make room. */
import type { ResourceSample } from "../../contract/api/schemas/fleet.ts";
import type { RuntimeUsage } from "../../ports/runtime.ts";

/** Six minutes, when a sample is taken every four seconds. */
const maxSamples = 90;

export class Samples {
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
