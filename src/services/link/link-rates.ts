/**
 * How fast a box may talk, in messages of any kind. Messages that come faster are not read: they wait in the box, at
 * the box's own cost. Honest boxes stay below, except for a program that prints or connects as fast as it can; that one
 * gets a fair share.
 */
import type { Clock } from "../../base/clock.ts";
import { SharedRate, TokenBucket } from "../../base/rate.ts";

/** boxd says something every few seconds and when something changes. A message costs one, and one more for each 2 KiB. */
const control = { perSecond: 64, burst: 1_024, bytes: 2 << 10 };
/**
 * Violations of a box; beyond this, a connection that is against the protocol is let go later, and dials again later.
 */
const offences = { perSecond: 20, burst: 1_000 };
/** Connections of all kinds; `npm ci` makes some hundred, a load test some thousand a second. */
const connections = { own: { perSecond: 50, burst: 2_000 }, alone: 3_000, together: 500 };
/** Frames on streams; one costs one, and one more for each 64 KiB. */
const frames = { own: { perSecond: 2_000, burst: 20_000 }, alone: 50_000, together: 10_000, bytes: 64 << 10 };
/** Waiting for less would only make more timers. */
const leastWaitMs = 10;

/** Says how long to wait before the next one is read; zero for not at all. */
export type Meter = (bytes: number) => number;

export interface BoxRates {
  readonly control: Meter;
  readonly frame: Meter;
  readonly connection: () => number;
  readonly offence: () => number;
}

/** One for all boxes, because they share one daemon. */
export function openLinkRates(clock: Clock): () => BoxRates {
  const [allConnections, allFrames] = [new SharedRate(connections, clock), new SharedRate(frames, clock)];
  return () => {
    const controlBucket = new TokenBucket(control.perSecond, control.burst, clock);
    const wrong = new TokenBucket(offences.perSecond, offences.burst, clock);
    const [dialled, framed] = [allConnections.open(), allFrames.open()];
    return {
      control: (bytes) => atLeast(controlBucket.spend(1 + bytes / control.bytes)),
      frame: (bytes) => atLeast(framed.spend(1 + bytes / frames.bytes)),
      connection: () => atLeast(dialled.spend(1)),
      offence: () => atLeast(wrong.spend(1)),
    };
  };
}

const atLeast = (ms: number): number => (ms === 0 ? 0 : Math.max(ms, leastWaitMs));
