/** One comparison, both sides measured in the same run. A ratio below the goal is good unless `higherIsBetter`. */
export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: number;
  readonly peerName: string;
  /** ours / peer. */
  readonly ratio: number;
  /** The limit for the ratio; null where the number is only watched. */
  readonly goal: number | null;
  readonly ok: boolean;
}

export interface Skipped {
  readonly name: string;
  readonly skipped: string;
}

export type Result = Comparison | Skipped;

/** A file of bench/: its name is the row's name, and a row may have several results. */
export interface Bench {
  readonly name: string;
  /** One sentence that says what is measured against what. */
  readonly about: string;
  /** Programs that must be there, each with its Debian package; installed when that needs no question. */
  readonly needs?: Readonly<Record<string, string>>;
  run(): Promise<readonly Result[]>;
}

interface Measured {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: number;
  readonly peerName: string;
  readonly goal?: number;
  readonly higherIsBetter?: boolean;
  /** Another way to meet the goal, such as an absolute number. */
  readonly alsoOk?: boolean;
}

const round = (value: number) => Number(value.toPrecision(4));

export function compare({
  name,
  unit,
  ours,
  peer,
  peerName,
  goal,
  higherIsBetter,
  alsoOk,
}: Measured): Comparison {
  const ratio = ours / peer;
  const ok = goal === undefined || alsoOk === true || (higherIsBetter ? ratio >= goal : ratio <= goal);
  return {
    name,
    unit,
    ours: round(ours),
    peer: round(peer),
    peerName,
    ratio: round(ratio),
    goal: goal ?? null,
    ok,
  };
}

/** The value that a share of all values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Medians of two things, measured in turns after one warm-up each, so that a slow minute of the machine hits both.
 * Work that ours leaves behind ends in between: the peer must not pay for it.
 */
export async function alternate(
  times: number,
  ours: () => Promise<unknown>,
  peer: () => Promise<unknown>,
  settle: () => Promise<unknown> = async () => undefined,
): Promise<{ ours: number; peer: number }> {
  await ours();
  await settle();
  await peer();
  const oursMs: number[] = [];
  const peerMs: number[] = [];
  for (let round = 0; round < times; round += 1) {
    oursMs.push(await timeMs(ours));
    await settle();
    peerMs.push(await timeMs(peer));
  }
  return { ours: median(oursMs), peer: median(peerMs) };
}

/** The same for work that measures itself, such as a rate. */
export async function alternateValues(
  times: number,
  ours: () => Promise<number>,
  peer: () => Promise<number>,
): Promise<{ ours: number; peer: number }> {
  await ours();
  await peer();
  const values = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round < times; round += 1) {
    values.ours.push(await ours());
    values.peer.push(await peer());
  }
  return { ours: median(values.ours), peer: median(values.peer) };
}
