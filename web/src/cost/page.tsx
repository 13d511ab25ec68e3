/** Tokens and money: by day as a chart, by box, agent, project and model as tables; budgets and what hit them. */
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { client } from "../api/client.ts";
import { boxesQuery } from "../api/queries.ts";
import { Count } from "../parts/amount.tsx";
import { Button } from "../parts/button.tsx";
import { Select, TextInput } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, ErrorNote, PageHeader, Skeleton } from "../parts/note.tsx";
import { Budgets } from "./budgets.tsx";
import { download, usageCsv } from "./csv.ts";
import { DayChart, type Measure } from "./day-chart.tsx";
import { type Preset, type Range, customRange, dayOf, daysOf, presetRange, presets } from "./range.ts";
import { type By, Cost, TotalsTable } from "./totals-table.tsx";

/** Requests to models make no events of their own. */
const everyMs = 15_000;

const usageQuery = (by: By, { fromMs, toMs }: Range) =>
  queryOptions({
    queryKey: ["usage", by, fromMs ?? 0, toMs],
    queryFn: () => client.getUsage({ by, from: fromMs, to: toMs }),
    refetchInterval: everyMs,
    placeholderData: keepPreviousData,
  });

const bys: readonly Exclude<By, "day">[] = ["box", "agent", "project", "model"];

export function CostPage() {
  const [range, setRange] = useState<Range>(() => presetRange("month", Date.now()));
  const [measure, setMeasure] = useState<Measure>("cost");
  const days = useQuery(usageQuery("day", range));
  const boxes = useQuery(boxesQuery).data;
  return (
    <div className="parts-stack cost">
      <PageHeader title="Cost" />
      <RangeBar range={range} onChange={setRange} />
      {days.error ? <ErrorNote error={days.error} /> : null}
      {days.data === undefined ? (
        <Skeleton height={420} label="Loading the cost" />
      ) : (
        <>
          <Tiles totals={days.data.totals} pricesOf={days.data.pricesOf} />
          {days.data.totals.requests === 0 ? (
            <Empty title="No request to a model in this time">
              <p>
                Every request of every agent is counted where it leaves, whatever the agent says about it.
              </p>
            </Empty>
          ) : (
            <>
              <Days range={range} groups={days.data.groups} measure={measure} setMeasure={setMeasure} />
              <Breakdown range={range} measure={measure} boxes={new Set(boxes?.map(({ name }) => name))} />
            </>
          )}
        </>
      )}
      <Budgets boxes={boxes ?? []} />
    </div>
  );
}

function RangeBar({ range, onChange }: { range: Range; onChange: (range: Range) => void }) {
  const [preset, setPreset] = useState<Preset | undefined>("month");
  const [from, setFrom] = useState(() => dayOf(range.fromMs ?? Date.now()));
  const [to, setTo] = useState(() => dayOf(range.toMs - 1));
  const choose = (next: Preset) => {
    setPreset(next);
    const chosen = presetRange(next, Date.now());
    if (chosen.fromMs !== undefined) setFrom(dayOf(chosen.fromMs));
    setTo(dayOf(chosen.toMs - 1));
    onChange(chosen);
  };
  const custom = (newFrom: string, newTo: string) => {
    setFrom(newFrom);
    setTo(newTo);
    setPreset(undefined);
    const chosen = customRange(newFrom, newTo);
    if (chosen) onChange(chosen);
  };
  const isWrong = customRange(from, to) === undefined;
  return (
    <fieldset className="cost-range" aria-label="Time">
      {(Object.keys(presets) as Preset[]).map((one) => (
        <Button key={one} aria-pressed={preset === one} onClick={() => choose(one)}>
          {presets[one].label}
        </Button>
      ))}
      <TextInput
        type="date"
        aria-label="From"
        aria-invalid={isWrong}
        value={from}
        max={to}
        onChange={(event) => custom(event.target.value, to)}
      />
      <span aria-hidden="true">–</span>
      <TextInput
        type="date"
        aria-label="To"
        aria-invalid={isWrong}
        value={to}
        min={from}
        onChange={(event) => custom(from, event.target.value)}
      />
    </fieldset>
  );
}

type Totals = Awaited<ReturnType<typeof client.getUsage>>["totals"];

function Tiles({ totals, pricesOf }: { totals: Totals; pricesOf: string }) {
  const { usage, requests, unpriced, estimated } = totals;
  const cachedShare = usage.input === 0 ? 0 : Math.round((usage.cached / usage.input) * 100);
  return (
    <dl className="cost-tiles">
      <div className="parts-card">
        <dt>Cost</dt>
        <dd>
          <Cost totals={totals} />
        </dd>
        <dd className="small quiet">
          {unpriced > 0 ? `${unpriced} requests without a known price; ` : ""}prices of {pricesOf}
        </dd>
      </div>
      <div className="parts-card">
        <dt>Input</dt>
        <dd>
          <Count n={usage.input} />
        </dd>
        <dd className="small quiet">{cachedShare} % from the cache</dd>
      </div>
      <div className="parts-card">
        <dt>Output</dt>
        <dd>
          <Count n={usage.output} />
        </dd>
        <dd className="small quiet">
          <Count n={usage.reasoning} /> of it reasoning
        </dd>
      </div>
      <div className="parts-card">
        <dt>Requests</dt>
        <dd>
          <Count n={requests} />
        </dd>
        <dd className="small quiet">
          {estimated === 0 ? "all counted by the vendor" : `${estimated} estimated`}
        </dd>
      </div>
    </dl>
  );
}

type Groups = Awaited<ReturnType<typeof client.getUsage>>["groups"];

interface DaysProps {
  readonly range: Range;
  readonly groups: Groups;
  readonly measure: Measure;
  readonly setMeasure: (measure: Measure) => void;
}

function Days({ range, groups, measure, setMeasure }: DaysProps) {
  const totals = useMemo(() => new Map(groups.map((group) => [group.key, group.totals])), [groups]);
  const days = daysOf(range, [...totals.keys()]);
  const newestFirst = [...groups].sort((a, b) => (a.key < b.key ? 1 : -1));
  return (
    <section className="parts-stack" aria-labelledby="cost-days">
      <div className="parts-header">
        <h2 id="cost-days">By day</h2>
        <div className="parts-actions">
          <Select
            aria-label="What the bars show"
            value={measure}
            onChange={(event) => setMeasure(event.target.value === "tokens" ? "tokens" : "cost")}
          >
            <option value="cost">Money</option>
            <option value="tokens">Tokens</option>
          </Select>
          <CsvButton by="day" groups={newestFirst} />
        </div>
      </div>
      <div className="cost-days">
        <div className="parts-card">
          <DayChart days={days} totals={totals} measure={measure} />
        </div>
        <div className="cost-days-table">
          <TotalsTable
            by="day"
            groups={newestFirst}
            measure={measure}
            caption="Cost by day"
            boxes={new Set()}
          />
        </div>
      </div>
    </section>
  );
}

interface BreakdownProps {
  readonly range: Range;
  readonly measure: Measure;
  readonly boxes: ReadonlySet<string>;
}

function Breakdown({ range, measure, boxes }: BreakdownProps) {
  const [by, setBy] = useState<Exclude<By, "day">>("box");
  const { data } = useQuery(usageQuery(by, range));
  return (
    <section className="parts-stack" aria-labelledby="cost-by">
      <div className="parts-header">
        <h2 id="cost-by">By {by}</h2>
        <div className="parts-actions">
          <fieldset className="cost-bys" aria-label="Break down by">
            {bys.map((one) => (
              <Button key={one} aria-pressed={by === one} onClick={() => setBy(one)}>
                {one}
              </Button>
            ))}
          </fieldset>
          <CsvButton by={by} groups={data?.groups ?? []} />
        </div>
      </div>
      {data === undefined ? (
        <Skeleton height={200} />
      ) : (
        <TotalsTable by={by} groups={data.groups} measure={measure} caption={`Cost by ${by}`} boxes={boxes} />
      )}
    </section>
  );
}

const CsvButton = ({ by, groups }: { by: By; groups: Groups }) => (
  <Button
    disabled={groups.length === 0}
    aria-label={`Download CSV by ${by}`}
    onClick={() => download(`agentbox-cost-by-${by}.csv`, usageCsv(by, groups))}
  >
    <Icon name="download" />
    CSV
  </Button>
);
