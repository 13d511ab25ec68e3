import { useQuery } from "@tanstack/react-query";
import type { Box } from "../../../src/contract/box.ts";
import { approvalsQuery } from "../api/queries.ts";
import { NeedLink, useNeeds } from "../inbox/needs.tsx";
import { Question } from "../inbox/question.tsx";
import { useReading } from "../inbox/reading.ts";
import { Panel } from "./panel.tsx";

/** Shown only when the box needs a person. */
export function NeedsYou({ box: { name } }: { box: Box }) {
  const questions = (useQuery(approvalsQuery).data ?? []).filter(({ box }) => box === name);
  const states = useNeeds().needs.filter(({ box, kind }) => box.name === name && kind !== "question");
  const isRead = useReading(questions);
  if (questions.length === 0 && states.length === 0) return null;
  return (
    <Panel title="Needs you" className="box-needs">
      {states.map((need) => (
        <p key={need.kind} className="parts-row">
          <strong>{need.sentence}</strong>
          <NeedLink need={need} />
        </p>
      ))}
      {questions.map((approval) => (
        <Question key={approval.id} approval={approval} isRead={isRead} />
      ))}
    </Panel>
  );
}
