import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { BoxSummary } from "../../../../src/contract/api/schemas.ts";
import type { Review } from "../../../../src/contract/review/review.ts";
import { client } from "../../api/client.ts";
import { useMay } from "../../api/me.ts";
import { boxesQuery } from "../../api/queries.ts";
import { Ago, Count, Money } from "../../parts/amount.tsx";
import { Badge, StateBadge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { Field, Select } from "../../parts/field.tsx";
import { formatSpan } from "../../parts/format.ts";
import { Empty, ErrorNote, PageHeader, Skeleton } from "../../parts/note.tsx";
import { useSayRemoved } from "../../removal/say-removed.ts";
import { WhatIsLost } from "../../removal/what-is-lost.tsx";
import { useAction } from "../../parts/use-action.ts";
import { GlanceFacts } from "./glance.tsx";
import { racesOf } from "./races-of.ts";
import { ReviewPanel } from "../review-panel.tsx";
import { type Glance, useGlances } from "./use-glances.ts";

/** The same task for several agents: all races whose boxes are still there. */
export function RacesPage() {
  const { data: boxes, error } = useQuery(boxesQuery);
  const races = racesOf(boxes ?? []);
  return (
    <div className="parts-stack">
      <PageHeader title="Races" />
      {error === null ? null : <ErrorNote error={error} />}
      {boxes === undefined && error === null ? <Skeleton height={240} /> : null}
      {boxes !== undefined && races.length === 0 ? (
        <Empty title="No races">
          <p>Give one task to several agents, and keep the best work.</p>
          <Link
            to="/new"
            search={{ agent: undefined, project: undefined, task: undefined }}
            className="parts-button"
          >
            New race
          </Link>
          <code>agentbox race "fix the tests" --agents claude,codex</code>
        </Empty>
      ) : null}
      <ul className="review-queue-list">
        {races.map(({ name, boxes: runners }) => (
          <li key={name} className="parts-card">
            <div className="parts-row">
              <Link to="/race/$name" params={{ name }}>
                <strong>{name}</strong>
              </Link>
              <span className="quiet small">
                {runners.length} runners,{" "}
                <Ago atMs={Math.min(...runners.map(({ createdAtMs }) => createdAtMs))} />
              </span>
              {runners.map((box) => (
                <span key={box.name} className="parts-row small">
                  {box.agent} <StateBadge box={box} />
                </span>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The boxes of one race side by side, and the work of one of them below. */
export function RacePage() {
  const { name = "" } = useParams({ strict: false });
  const navigate = useNavigate();
  const { data: boxes, error } = useQuery(boxesQuery);
  const race = racesOf(boxes ?? []).find((one) => one.name === name);
  const runners = race?.boxes ?? [];
  const done = runners.filter(isDone).map((box) => box.name);
  const glances = useGlances(done);
  const [chosen, setChosen] = useState<string>();
  const [against, setAgainst] = useState("");
  const current = runners.find((box) => box.name === chosen) ?? runners[0];
  const others = runners.filter((box) => box !== current).map((box) => box.name);
  const mayDiscard = useMay("review");
  const sayRemoved = useSayRemoved();
  const pick = useAction(
    async () => {
      const removed = [];
      for (const other of others) removed.push((await client.discardWork(other)).removed);
      return removed;
    },
    {
      invalidates: [["boxes"]],
      onDone: (removed) => {
        sayRemoved(`Kept ${current?.name ?? ""}, discarded the others.`, removed);
        if (current !== undefined) void navigate({ to: "/box/$name/review", params: { name: current.name } });
      },
    },
  );
  return (
    <div className="parts-stack">
      <PageHeader title={`Race ${name}`} />
      {error === null ? null : <ErrorNote error={error} />}
      {boxes === undefined && error === null ? <Skeleton height={480} /> : null}
      {boxes !== undefined && current === undefined ? (
        <Empty title="There is no such race">
          <p>Its boxes were removed, or only one is left.</p>
        </Empty>
      ) : null}
      <div className="review-runners">
        {runners.map((box) => (
          <Runner
            key={box.name}
            box={box}
            glance={glances.find((one) => one.box === box.name)}
            isChosen={box === current}
            onChoose={() => {
              setChosen(box.name);
              setAgainst("");
            }}
          />
        ))}
      </div>
      {current === undefined ? null : (
        <section className="parts-stack" aria-label={`Work of ${current.name}`}>
          <div className="parts-row">
            <h2>{current.name}</h2>
            <Field label="Compared with">
              <Select value={against} onChange={({ target }) => setAgainst(target.value)}>
                <option value="">what it began with</option>
                {others
                  .filter((other) => done.includes(other))
                  .map((other) => (
                    <option key={other} value={other}>
                      {other}
                    </option>
                  ))}
              </Select>
            </Field>
            {mayDiscard ? (
              <ConfirmButton
                kind="danger"
                isBusy={pick.isBusy}
                question={`Keep ${current.name} and discard the others?`}
                details={
                  <WhatIsLost names={others} note={`The work of ${current.name} is not merged by this.`} />
                }
                confirm="Discard the others"
                onConfirm={() => pick.run()}
              >
                Pick this one
              </ConfirmButton>
            ) : null}
          </div>
          {isDone(current) ? (
            <ReviewPanel
              key={`${current.name} ${against}`}
              box={current.name}
              against={against === "" ? undefined : against}
              onDiscarded={() => setChosen(undefined)}
            />
          ) : (
            <Empty title="Still at work">
              <p>Its work is shown here when it is done.</p>
              <Link to="/box/$name" params={{ name: current.name }} className="parts-button">
                Watch {current.name}
              </Link>
            </Empty>
          )}
        </section>
      )}
    </div>
  );
}

/** Has work to compare: its agent has had its say, and its box is whole. */
const isDone = ({ phase, verdict }: BoxSummary): boolean =>
  phase === "stopped" || phase === "failed" || (verdict !== undefined && phase === "running");

function Runner({
  box,
  glance: { review, error } = { review: undefined, error: undefined },
  isChosen,
  onChoose,
}: {
  box: BoxSummary;
  /** Absent while it is at work. */
  glance: Omit<Glance, "box"> | undefined;
  isChosen: boolean;
  onChoose: () => void;
}) {
  return (
    <article
      className={`parts-card review-runner ${isChosen ? "review-runner-chosen" : ""}`}
      aria-label={box.name}
    >
      <div className="parts-row">
        <h2>{box.name}</h2>
        <StateBadge box={box} />
      </div>
      {error === undefined ? null : <ErrorNote error={error} />}
      {review === undefined ? (
        isDone(box) && error === undefined ? (
          <Skeleton height={64} />
        ) : null
      ) : (
        <>
          <GlanceFacts review={review} />
          <RunnerFacts review={review} />
        </>
      )}
      <Button aria-pressed={isChosen} onClick={onChoose}>
        {isChosen ? "Shown below" : "Show its work"}
      </Button>
    </article>
  );
}

function RunnerFacts({ review: { summary } }: { review: Review }) {
  const { usage, costMicroUsd, requests } = summary.usage;
  return (
    <p className="small quiet parts-row">
      {summary.verdict === undefined ? null : (
        <Badge tone={summary.verdict === "done" ? "good" : "warn"}>
          {summary.verdict.replaceAll("_", " ")}
        </Badge>
      )}
      <span>{formatSpan(summary.durationMs)}</span>
      <span>
        <Count n={usage.input + usage.output} /> tokens
      </span>
      <span>{requests === 0 ? "no cost" : <Money microUsd={costMicroUsd} />}</span>
    </p>
  );
}
