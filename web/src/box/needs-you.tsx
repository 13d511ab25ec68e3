import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Box } from "../../../src/contract/box.ts";
import { approvalsQuery } from "../api/queries.ts";
import { Question } from "../inbox/question.tsx";
import { useReading } from "../inbox/reading.ts";
import { useWaitingBoxes } from "../inbox/use-waiting-boxes.ts";
import { Panel } from "./panel.tsx";

/** Nothing at all when nothing waits. */
export function NeedsYou({ box: { name } }: { box: Box }) {
  const questions = (useQuery(approvalsQuery).data ?? []).filter(({ box }) => box === name);
  const waiting = useWaitingBoxes().waiting.filter(({ box }) => box.name === name);
  const isRead = useReading(questions);
  if (questions.length === 0 && waiting.length === 0) return null;
  return (
    <Panel title="Needs you" className="box-needs">
      {waiting.map(({ kind, sentence }) => (
        <p key={kind} className="parts-row">
          <strong>{sentence}</strong>
          {kind === "review" ? (
            <Link to="/box/$name/review" params={{ name }}>
              Review it
            </Link>
          ) : null}
          {kind === "answer" || kind === "stuck" ? (
            <Link to="/box/$name/terminal" params={{ name }}>
              Open its terminal
            </Link>
          ) : null}
        </p>
      ))}
      {questions.map((approval) => (
        <Question key={approval.id} approval={approval} isRead={isRead} />
      ))}
    </Panel>
  );
}
