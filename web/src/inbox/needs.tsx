/** The needs of all boxes. Every count and list comes from here, and so from one answer of the daemon. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";
import { type Need, type NeedKind, needsOf } from "../../../src/contract/needs.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { RaiseButton } from "../box/raise-dialog.tsx";
import { boxesQuery } from "../api/queries.ts";
import { Badge } from "../parts/badge.tsx";
import { Icon } from "../parts/icon.tsx";

export type BoxNeed = Need & { readonly box: BoxSummary };

const noBoxes: readonly BoxSummary[] = [];

export function useNeeds(): { readonly needs: readonly BoxNeed[]; readonly isPending: boolean } {
  const { data: boxes = noBoxes, isPending } = useQuery(boxesQuery);
  const needs = useMemo(() => needsOf(boxes), [boxes]);
  return { needs, isPending };
}

const buttons = {
  question: { action: "Decide", to: "/inbox", tone: "warn", word: "asks" },
  answer: { action: "Answer", to: "/box/$name/terminal", tone: "warn", word: "asks" },
  budget: { action: "Raise the budget", to: "/box/$name/overview", tone: "warn", word: "budget" },
  stuck: { action: "Look", to: "/box/$name/terminal", tone: "bad", word: "trouble" },
  failed: { action: "Find out why", to: "/box/$name/overview", tone: "bad", word: "trouble" },
  review: { action: "Review", to: "/box/$name/review", tone: "good", word: "done" },
} as const satisfies Record<NeedKind, object>;

export function NeedBadge({ kind }: Pick<Need, "kind">) {
  const { tone, word } = buttons[kind];
  return <Badge tone={tone}>{word}</Badge>;
}

/** Leads to where the need is met. */
export function NeedLink({ need: { kind, box } }: { need: BoxNeed }) {
  const { action, to } = buttons[kind];
  const isOwn = useMayOn(box.name, "own");
  const mayRaise = useMay("approve") && isOwn;
  if (kind === "budget" && box.phase === "paused" && mayRaise) return <RaiseButton name={box.name} />;
  return (
    <Link className="parts-button" to={to} params={{ name: box.name }} aria-label={`${action}: ${box.name}`}>
      <span className="needs-action">{action}</span>
      <Icon name="chevron" />
    </Link>
  );
}
