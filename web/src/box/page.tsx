/** The page of a box: its activity and its needs. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Box } from "../../../src/contract/box.ts";
import { client } from "../api/client.ts";
import { Ago, Count, Money } from "../parts/amount.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { AgentPanel } from "./agent-panel.tsx";
import { BudgetPanel } from "./budget-panel.tsx";
import { EventRow } from "./event-row.tsx";
import { rowsOf } from "./event-words.ts";
import { NeedsYou } from "./needs-you.tsx";
import { Panel } from "./panel.tsx";
import { useBox, useBoxName, useSummary } from "./use-box.ts";
import { useBoxEvents } from "./use-box-events.ts";

const lastRows = 12;

export function OverviewPage() {
  const name = useBoxName();
  const { data, error } = useBox(name);
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={480} />;
  const { box } = data;
  return (
    <div className="box-overview">
      <NeedsYou box={box} />
      <AgentPanel box={box} />
      <WorkPanel box={box} />
      <BudgetPanel name={box.name} />
      <LastEvents key={box.incarnation} box={box} />
    </div>
  );
}

function WorkPanel({ box: { name, state, createdAtMs } }: { box: Box }) {
  const summary = useSummary(name);
  const usage = useQuery({ queryKey: ["usage", "box", name], queryFn: () => client.getUsage({ box: name }) });
  const totals = usage.data?.totals;
  const failure = state.phase === "failed" ? state.message : undefined;
  return (
    <Panel title="Work">
      {failure === undefined ? null : (
        <p className="box-failure">
          <Visible text={failure} />
        </p>
      )}
      <dl className="box-numbers">
        <dt>Changed files</dt>
        <dd>
          {summary?.changedFiles === undefined ? (
            "not known yet"
          ) : (
            <Link to="/box/$name/review" params={{ name }}>
              {summary.changedFiles}
            </Link>
          )}
        </dd>
        <dt>Tokens</dt>
        <dd>{totals ? <Count n={totals.usage.input + totals.usage.output} /> : "…"}</dd>
        <dt>Cost</dt>
        <dd>
          {totals ? <Money microUsd={totals.costMicroUsd} /> : "…"}
          {totals && totals.unpriced > 0 ? (
            <span className="quiet small"> and {totals.unpriced} requests of unknown cost</span>
          ) : null}
        </dd>
        <dt>Created</dt>
        <dd>
          <Ago atMs={createdAtMs} />
        </dd>
      </dl>
    </Panel>
  );
}

function LastEvents({ box: { name, createdAtMs } }: { box: Box }) {
  const { events, isPending } = useBoxEvents(name, { sinceMs: createdAtMs, limit: 50 });
  const rows = rowsOf(events, new Set()).slice(0, lastRows);
  return (
    <Panel title="Recent activity" className="box-lately">
      {isPending ? <Skeleton height={200} /> : null}
      <div aria-live="polite" aria-relevant="additions">
        {rows.map((row) => (
          <EventRow key={row.event.id} row={row} />
        ))}
      </div>
      <Link to="/box/$name/timeline" params={{ name }}>
        Full timeline
      </Link>
    </Panel>
  );
}
