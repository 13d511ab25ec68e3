/** Everything that waits for a person: questions of boxes, and boxes that cannot go on or are done. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { Approval } from "../../../src/contract/network/egress.ts";
import { useLiveEvents } from "../api/live.ts";
import { useMay } from "../api/me.ts";
import { approvalsQuery, missedApprovalsQuery } from "../api/queries.ts";
import { useKeyWords } from "../app/key-help.tsx";
import { useKeys } from "../app/keys.ts";
import { Ago } from "../parts/amount.tsx";
import { StateBadge } from "../parts/badge.tsx";
import { visible } from "../parts/visible-text.ts";
import { Empty, ErrorNote, Kbd, PageHeader, Skeleton } from "../parts/note.tsx";
import { type Scope, closedText, defaultDurationMs } from "./answer-words.ts";
import { MissedQuestions } from "./missed.tsx";
import { type BoxNeed, NeedLink, useNeeds } from "./needs.tsx";
import { DurationSelect, Question, useAnswer } from "./question.tsx";
import { useReading } from "./reading.ts";

const keyWords = [
  ["j / k", "next and previous question"],
  ["a", "allow once"],
  ["b", "allow for this box"],
  ["p", "allow for the project"],
  ["d", "deny"],
] as const;

export function InboxPage() {
  const approvals = useQuery(approvalsQuery);
  const { needs, isPending } = useNeeds();
  // Questions are shown with all that a yes would allow, which the list of boxes does not have.
  const states = needs.filter(({ kind }) => kind !== "question");
  const [ttlMs, setTtlMs] = useState<number>(defaultDurationMs);
  const missed = useQuery(missedApprovalsQuery);
  const questions = approvals.data ?? [];
  const isLoading = approvals.isPending || isPending;
  const isEmpty = !isLoading && questions.length + states.length + (missed.data?.length ?? 0) === 0;
  return (
    <div className="inbox">
      <PageHeader title="Inbox" actions={<DurationSelect ttlMs={ttlMs} onChange={setTtlMs} />}>
        <p className="quiet small inbox-keys">
          <Kbd>j</Kbd> <Kbd>k</Kbd> move, <Kbd>a</Kbd> once, <Kbd>b</Kbd> box, <Kbd>p</Kbd> project,{" "}
          <Kbd>d</Kbd> deny
        </p>
      </PageHeader>
      {approvals.error ? <ErrorNote error={approvals.error} /> : null}
      <ClosedNote />
      {isLoading ? <Skeleton height={200} /> : null}
      {isEmpty ? (
        <Empty title="Nothing needs you">
          <p className="quiet">Questions of boxes and finished work appear here by themselves.</p>
        </Empty>
      ) : null}
      <Questions questions={questions} ttlMs={ttlMs} />
      <MissedQuestions ttlMs={ttlMs} />
      {states.length === 0 ? null : (
        <ul className="inbox-list" aria-label="Boxes that need you">
          {states.map((need) => (
            <StateItem key={need.box.name} need={need} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Questions({ questions, ttlMs }: { questions: readonly Approval[]; ttlMs: number }) {
  const [chosen, setChosen] = useState<number>();
  const index = Math.max(
    0,
    questions.findIndex(({ id }) => id === chosen),
  );
  const current = questions[index];
  const { answer, isBusy } = useAnswer(ttlMs);
  const mayAnswer = useMay("approve");
  const isRead = useReading(questions);
  const items = useRef(new Map<number, HTMLLIElement>());
  const currentId = current?.id;
  useEffect(() => {
    if (currentId !== undefined) items.current.get(currentId)?.scrollIntoView({ block: "nearest" });
  }, [currentId]);
  const move = (by: number) =>
    setChosen(questions[Math.min(questions.length - 1, Math.max(0, index + by))]?.id);
  const press = (choice: Scope | "deny") => {
    if (!current || !mayAnswer || isBusy || !isRead) return;
    if (choice === "project" && current.projectDir === undefined) return;
    answer(current, choice);
  };
  useKeyWords(keyWords);
  useKeys(
    {
      j: () => move(1),
      k: () => move(-1),
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      a: () => press("once"),
      b: () => press("box"),
      p: () => press("project"),
      d: () => press("deny"),
    },
    questions.length > 0,
  );
  if (questions.length === 0) return null;
  return (
    <ul className="inbox-list" aria-label="Questions">
      {questions.map((approval) => (
        <li
          key={approval.id}
          ref={(item) => {
            if (item) items.current.set(approval.id, item);
            else items.current.delete(approval.id);
          }}
          className={`parts-card ${approval.id === currentId ? "inbox-current" : ""}`}
          aria-current={approval.id === currentId}
        >
          <Question approval={approval} isRead={isRead} ttlMs={ttlMs} hasKeys={approval.id === currentId} />
        </li>
      ))}
    </ul>
  );
}

/** Says what became of a question that disappeared while it was shown. */
function ClosedNote() {
  const [closed, setClosed] = useState("");
  useLiveEvents(({ type, box, data }) => {
    if (type !== "approval.answered") return;
    const text = (value: unknown) => (typeof value === "string" ? value : "");
    setClosed(visible(`${box ?? ""}, ${text(data["host"])}: ${closedText(text(data["outcome"]))}`));
  });
  return (
    <p className="quiet small inbox-closed">
      <output>{closed}</output>
    </p>
  );
}

function StateItem({ need }: { need: BoxNeed }) {
  const { box, sentence, sinceMs } = need;
  return (
    <li className="parts-card parts-row">
      <StateBadge box={box} />
      <strong>
        <Link to="/box/$name" params={{ name: box.name }}>
          {box.name}
        </Link>
      </strong>
      <span>{sentence}</span>
      <span className="quiet small">
        <Ago atMs={sinceMs} />
      </span>
      <NeedLink need={need} />
    </li>
  );
}
