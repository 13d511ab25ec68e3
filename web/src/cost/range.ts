/** The time that is looked at. Days are UTC, as budgets count them. */
export const dayMs = 86_400_000;

export const presets = {
  today: { label: "Today", days: 1 },
  week: { label: "7 days", days: 7 },
  month: { label: "30 days", days: 30 },
  quarter: { label: "90 days", days: 90 },
  all: { label: "All", days: undefined },
} as const;
export type Preset = keyof typeof presets;

/** From the beginning of a day to the end of another; without a beginning: since ever. */
export interface Range {
  readonly fromMs?: number | undefined;
  readonly toMs: number;
}

const startOfDay = (ms: number) => ms - (ms % dayMs);
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export function presetRange(preset: Preset, nowMs: number): Range {
  const toMs = startOfDay(nowMs) + dayMs;
  const { days } = presets[preset];
  return days === undefined ? { toMs } : { fromMs: toMs - days * dayMs, toMs };
}

/** Two days as a person chose them, both included; undefined when they make no range. */
export function customRange(from: string, to: string): Range | undefined {
  const [fromMs, lastMs] = [Date.parse(`${from}T00:00:00Z`), Date.parse(`${to}T00:00:00Z`)];
  if (Number.isNaN(fromMs) || Number.isNaN(lastMs) || lastMs < fromMs) return undefined;
  return { fromMs, toMs: lastMs + dayMs };
}

/** More would be thinner than a pixel each. */
const maxDays = 400;

/** Every day of a range, also those on which nothing happened; at most the newest 400. */
export function daysOf({ fromMs, toMs }: Range, known: readonly string[]): readonly string[] {
  const firstKnown = known.reduce((first, day) => (day < first ? day : first), dayOf(toMs - 1));
  const beginMs = Math.max(fromMs ?? Date.parse(`${firstKnown}T00:00:00Z`), toMs - maxDays * dayMs);
  const days: string[] = [];
  for (let ms = beginMs; ms < toMs; ms += dayMs) days.push(dayOf(ms));
  return days;
}
