/** Questions that ended without an answer: nothing waits for them, so a yes holds from now on. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { targetText } from "../../../src/contract/network/egress-words.ts";
import type { MissedApproval } from "../../../src/contract/network/egress.ts";
import { client } from "../api/client.ts";
import { useMay } from "../api/me.ts";
import { missedApprovalsQuery } from "../api/queries.ts";
import { Ago } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { type Scope, answerOf, meaningOf } from "./answer-words.ts";
import { useReading } from "./reading.ts";

const none: readonly MissedApproval[] = [];

type Choice = Exclude<Scope, "once"> | "deny";

export function MissedQuestions({ ttlMs }: { ttlMs: number }) {
  const { data: missed = none } = useQuery(missedApprovalsQuery);
  const isRead = useReading(missed);
  if (missed.length === 0) return null;
  return (
    <section className="inbox-missed" aria-labelledby="inbox-missed">
      <h2 id="inbox-missed">Missed questions</h2>
      <p className="quiet small">
        Denied because no answer came in time. Allow one, and the same works from now on.
      </p>
      <ul className="inbox-list" aria-label="Missed questions">
        {missed.map((one) => (
          <li key={one.id} className="parts-card">
            <Missed missed={one} ttlMs={ttlMs} isRead={isRead} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** SECURITY: all but the buttons is the box's own choice of words, so all of it is shown with hidden characters. */
function Missed({ missed, ttlMs, isRead }: { missed: MissedApproval; ttlMs: number; isRead: boolean }) {
  const { answer, isBusy } = useLateAnswer(ttlMs);
  const mayAnswer = useMay("approve");
  const { box, secret, sentence, projectDir, missedAtMs, times } = missed;
  const choices: readonly (readonly [Choice, string])[] = [
    ["box", "Allow from now on"],
    ...(projectDir === undefined ? [] : ([["project", "For the project"]] as const)),
    ["deny", "Dismiss"],
  ];
  return (
    <div className="inbox-question">
      <p className="parts-row">
        <Badge>{secret === undefined ? "network" : "secret"}</Badge>
        <strong>
          <Link to="/box/$name" params={{ name: box }}>
            {box}
          </Link>
        </strong>
        <span className="quiet inbox-left">
          <Ago atMs={missedAtMs} />
          {times > 1 ? `, ${times} times` : ""}
        </span>
      </p>
      <p className="inbox-sentence">
        <Visible text={sentence} />
      </p>
      {mayAnswer ? (
        <div className="parts-row inbox-answers">
          {choices.map(([choice, label]) => (
            <Button
              key={choice}
              isBusy={isBusy}
              disabled={!isRead}
              title={choice === "deny" ? "Takes it off the list." : meaningOf(missed, choice, ttlMs)}
              aria-label={`${label}: ${targetText(missed)}`}
              onClick={() => answer({ missed, choice })}
            >
              {label}
            </Button>
          ))}
        </div>
      ) : null}
    </div>
  );
}

function useLateAnswer(ttlMs: number) {
  const queries = useQueryClient();
  const { queryKey } = missedApprovalsQuery;
  const { run, isBusy } = useAction(
    ({ missed, choice }: { missed: MissedApproval; choice: Choice }) =>
      client.answerApproval(missed.id, answerOf(missed, choice, ttlMs)),
    {
      done: (_, { missed, choice }) =>
        choice === "deny" ? "Dismissed." : `Allowed. ${meaningOf(missed, choice, ttlMs)}`,
      invalidates: [queryKey],
    },
  );
  // One that cannot be answered any more is not shown any longer either.
  const answer = (choice: { missed: MissedApproval; choice: Choice }) =>
    run(choice, { onError: () => void queries.invalidateQueries({ queryKey }) });
  return { answer, isBusy };
}
