/**
 * Reports for a log that only grows. Repetitions within a minute are counted, and the count is reported when the minute
 * is over: a box that makes the same thing fail a thousand times a second writes two lines a minute.
 */
import type { Clock } from "./clock.ts";

const minuteMs = 60_000;
/** SECURITY: a box may choose a word of a message; beyond so many different ones they count as one. */
const maxKinds = 200;
const others = "other reports";

export type Report = (facts: Record<string, unknown>, message: string) => void;

export function onceAMinute(clock: Clock, report: Report): Report {
  const counts = new Map<string, number>();
  return (facts, message) => {
    const key = `${message}\n${typeof facts["box"] === "string" ? facts["box"] : ""}`;
    const kind = counts.has(key) || counts.size < maxKinds ? key : others;
    const count = counts.get(kind);
    counts.set(kind, count === undefined ? 0 : count + 1);
    if (count !== undefined) return;
    report(facts, message);
    clock.after(minuteMs, () => {
      const more = counts.get(kind) ?? 0;
      counts.delete(kind);
      if (more > 0) report({ ...facts, more }, `${kind === others ? others : message}, ${more} more times`);
    });
  };
}
