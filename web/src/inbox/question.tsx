import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { isAgentBoxError, toAgentBoxError } from "../../../src/base/errors.ts";
import { targetText } from "../../../src/contract/network/egress-words.ts";
import type { Approval } from "../../../src/contract/network/egress.ts";
import { client } from "../api/client.ts";
import { useMay } from "../api/me.ts";
import { approvalsQuery } from "../api/queries.ts";
import { DeniedIn } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Field, Select } from "../parts/field.tsx";
import { Kbd } from "../parts/note.tsx";
import { useToast } from "../parts/toast.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { type Scope, answerOf, defaultDurationMs, durations, meaningOf } from "./answer-words.ts";

/** Answers a question, or says why it could not be. */
export function useAnswer(ttlMs: number) {
  const toast = useToast();
  const queries = useQueryClient();
  const { run, isBusy } = useAction(
    ({ approval, choice }: { approval: Approval; choice: Scope | "deny" }) =>
      client.answerApproval(approval.id, answerOf(approval, choice, ttlMs)),
    {
      done: (_, { approval, choice }) =>
        choice === "deny"
          ? `Denied: ${targetText(approval)}.`
          : `Allowed. ${meaningOf(approval, choice, ttlMs)}`,
      onDone: (_, { approval: { id } }) =>
        queries.setQueryData(approvalsQuery.queryKey, (open) => open?.filter((one) => one.id !== id)),
      isQuiet: true,
    },
  );
  const answer = (approval: Approval, choice: Scope | "deny") =>
    run(
      { approval, choice },
      {
        onError(error) {
          void queries.invalidateQueries({ queryKey: approvalsQuery.queryKey });
          const late = isAgentBoxError(error, "approval.not_found");
          const changed = isAgentBoxError(error, "approval.changed");
          if (late) toast("Too late: the question is closed, and nothing was allowed.", "bad");
          else if (changed) toast("The question has changed, so nothing was allowed. Read it again.", "bad");
          else toast(toAgentBoxError(error).message, "bad");
        },
      },
    );
  return { answer, isBusy };
}

interface QuestionProps {
  readonly approval: Approval;
  /** Whether it has been there long enough to be read; before that nothing can be answered. */
  readonly isRead: boolean;
  readonly ttlMs?: number;
  readonly hasKeys?: boolean;
}

/** SECURITY: all but the buttons is the box's own choice of words, so all of it is shown with hidden characters. */
export function Question({ approval, isRead, ttlMs: common, hasKeys = false }: QuestionProps) {
  const [own, setOwn] = useState<number>(defaultDurationMs);
  const ttlMs = common ?? own;
  const { answer, isBusy } = useAnswer(ttlMs);
  const mayAnswer = useMay("approve");
  const { box, host, secret, program, sentence, projectDir, expiresAtMs } = approval;
  const choices: readonly (readonly [Scope, string, string])[] = [
    ["once", "Allow once", "a"],
    ["box", "For this box", "b"],
    ...(projectDir === undefined ? [] : ([["project", "For the project", "p"]] as const)),
  ];
  return (
    <div className="inbox-question">
      <p className="parts-row">
        <Badge tone="warn">{secret === undefined ? "network" : "secret"}</Badge>
        <strong>
          <Link to="/box/$name" params={{ name: box }}>
            {box}
          </Link>{" "}
          wants to {secret === undefined ? "reach" : "use the secret "}
          {secret === undefined ? " " : <Visible text={secret} />}
          {secret === undefined ? "" : " at "}
          <Visible text={host} />
        </strong>
        <span className="quiet inbox-left">
          <DeniedIn atMs={expiresAtMs} />
        </span>
      </p>
      <p className="inbox-sentence">
        <Visible text={sentence} />
      </p>
      <p className="quiet small">
        <span className="mono">
          <Visible text={targetText(approval)} />
        </span>
        {program === undefined ? null : (
          <>
            {" "}
            by <Visible text={program} />, as the box says
          </>
        )}
        {projectDir === undefined ? null : (
          <>
            {" "}
            in <Visible text={projectDir} />
          </>
        )}
      </p>
      {mayAnswer ? (
        <div className="parts-row inbox-answers">
          {choices.map(([scope, label, key]) => (
            <Button
              key={scope}
              kind={scope === "once" ? "primary" : undefined}
              isBusy={isBusy}
              disabled={!isRead}
              title={meaningOf(approval, scope, ttlMs)}
              onClick={() => answer(approval, scope)}
            >
              {label}
              {hasKeys ? <Kbd>{key}</Kbd> : null}
            </Button>
          ))}
          <Button kind="danger" isBusy={isBusy} disabled={!isRead} onClick={() => answer(approval, "deny")}>
            Deny
            {hasKeys ? <Kbd>d</Kbd> : null}
          </Button>
          {common === undefined ? <DurationSelect ttlMs={own} onChange={setOwn} /> : null}
        </div>
      ) : null}
    </div>
  );
}

export function DurationSelect({ ttlMs, onChange }: { ttlMs: number; onChange: (ttlMs: number) => void }) {
  return (
    <Field label="Remember for">
      <Select value={ttlMs} onChange={({ target }) => onChange(Number(target.value))}>
        {durations.map(({ ms, label }) => (
          <option key={ms} value={ms}>
            {label}
          </option>
        ))}
      </Select>
    </Field>
  );
}
