/** What a box wants from the person, and where that is done. */
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";
import type { Approval } from "../../../src/contract/network/egress.ts";
import { boxWord } from "../parts/badge.tsx";

export interface Need {
  readonly box: BoxSummary;
  readonly what: string;
  readonly action: string;
  readonly to: "/inbox" | "/box/$name/terminal" | "/box/$name/review" | "/box/$name";
  readonly tone: "warn" | "bad" | "good";
}

const plural = (n: number, noun: string) => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** What failed before that is history: nobody waits for it. */
const freshMs = 24 * 3_600_000;

function needOf(box: BoxSummary, approvals: readonly Approval[], nowMs: number): Need | undefined {
  const [question] = approvals;
  if (question) {
    const more = approvals.length > 1 ? ` and ${approvals.length - 1} more` : "";
    return { box, what: `${question.sentence}${more}`, action: "Decide", to: "/inbox", tone: "warn" };
  }
  const word = boxWord(box);
  if (word === "waiting for you")
    return {
      box,
      what: "The agent waits for your answer.",
      action: "Answer",
      to: "/box/$name/terminal",
      tone: "warn",
    };
  if (word === "stuck")
    return {
      box,
      what: "Nothing has happened for a while.",
      action: "Look",
      to: "/box/$name/terminal",
      tone: "bad",
    };
  if (word === "failed" && nowMs - box.sinceMs < freshMs)
    return {
      box,
      what: "It ended without being done.",
      action: "Find out why",
      to: "/box/$name",
      tone: "bad",
    };
  const { changedFiles = 0 } = box;
  if (word === "done" && changedFiles > 0)
    return {
      box,
      what: `Done, with ${plural(changedFiles, "changed file")} to look at.`,
      action: "Review",
      to: "/box/$name/review",
      tone: "good",
    };
  return undefined;
}

const order = { warn: 0, bad: 1, good: 2 } as const;

/** Questions first, then trouble, then finished work; the one that waits longest first. */
export function needsOf(
  boxes: readonly BoxSummary[],
  approvals: readonly Approval[],
  nowMs: number,
): readonly Need[] {
  const asked = new Map<string, Approval[]>();
  for (const approval of approvals) asked.set(approval.box, [...(asked.get(approval.box) ?? []), approval]);
  return boxes
    .flatMap((box) => needOf(box, asked.get(box.name) ?? [], nowMs) ?? [])
    .sort((a, b) => order[a.tone] - order[b.tone] || a.box.sinceMs - b.box.sinceMs);
}
