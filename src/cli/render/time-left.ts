import { formatDuration } from "../../base/duration.ts";

/** `in 3h`, or `never`; in minutes, because seconds say nothing about an end that is hours away. */
export function left(untilMs: number | undefined, nowMs: number): string {
  if (untilMs === undefined) return "never";
  const minutes = Math.ceil((untilMs - nowMs) / 60_000);
  return minutes <= 0 ? "now" : `in ${formatDuration(minutes * 60_000)}`;
}
