/** The scope and the duration of an answer, in words that cannot be taken for more. Pure. */
import { formatDuration } from "../../../src/base/duration.ts";
import type { Approval, ApprovalAnswer } from "../../../src/contract/network/egress.ts";

export type Scope = ApprovalAnswer["scope"];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The durations of a lasting yes; a day by default. */
export const durations = [
  { ms: 15 * minuteMs, label: "15 minutes" },
  { ms: hourMs, label: "1 hour" },
  { ms: 8 * hourMs, label: "8 hours" },
  { ms: dayMs, label: "1 day" },
  { ms: 7 * dayMs, label: "7 days" },
  { ms: 30 * dayMs, label: "30 days" },
] as const;
export const defaultDurationMs = dayMs;

export const durationLabel = (ms: number): string =>
  durations.find((one) => one.ms === ms)?.label ?? formatDuration(ms);

/** `Let the box shop reach a.test on port 443` → with for whom and how long. */
export function meaningOf(
  { sentence, box, secret }: Pick<Approval, "sentence" | "box" | "secret">,
  scope: Scope,
  ttlMs: number,
): string {
  const what = sentence.replace(/\.$/, "");
  if (scope === "once")
    return `${what}, this once: ${secret === undefined ? "one connection" : "one request"}.`;
  const length = durationLabel(ttlMs);
  return scope === "box"
    ? `${what}, for ${length}. Only ${box} may.`
    : `${what}, and every other box of its project too, for ${length}.`;
}

/** Only what the daemon should know: a yes for once has no length, and a no has no scope. */
export function answerOf(
  { digest }: Pick<Approval, "digest">,
  choice: Scope | "deny",
  ttlMs: number,
): ApprovalAnswer {
  if (choice === "deny") return { answer: "deny", scope: "once", digest };
  return { answer: "allow", scope: choice, digest, ...(choice === "once" ? {} : { ttlMs }) };
}

/** The outcome of a question that is no longer there. */
export const closedText = (outcome: string): string =>
  ({
    allow: "Allowed.",
    deny: "Denied.",
    timed_out: "Denied: no answer in time.",
    withdrawn: "The box no longer asks.",
  })[outcome] ?? "Answered elsewhere.";
