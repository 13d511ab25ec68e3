/** A box's live use of the machine. */
import { useQuery } from "@tanstack/react-query";
import type { ResourceSample, ResourcesAnswer } from "../../../src/contract/api/schemas/fleet.ts";
import { client } from "../api/client.ts";
import { formatBytes } from "../parts/format.ts";
import { Empty, ErrorNote, Skeleton } from "../parts/note.tsx";
import { Chart } from "./chart.tsx";
import { Panel } from "./panel.tsx";
import { useBoxName } from "./use-box.ts";
import { TableScroll } from "../parts/table-scroll.tsx";
import { TableHead } from "../parts/table-head.tsx";

const everyMs = 3_000;

interface Measure {
  readonly title: string;
  readonly pick: (sample: ResourceSample) => number | undefined;
  readonly format: (value: number) => string;
  readonly limit: (answer: ResourcesAnswer) => number | undefined;
}

const measures: readonly Measure[] = [
  {
    title: "Processor",
    pick: ({ cpuPercent }) => cpuPercent,
    format: (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} %`,
    limit: ({ cpus }) => (cpus === undefined ? undefined : cpus * 100),
  },
  {
    title: "Memory",
    pick: ({ memoryBytes }) => memoryBytes,
    format: formatBytes,
    limit: ({ memoryLimitBytes }) => memoryLimitBytes,
  },
  { title: "Processes", pick: ({ processes }) => processes, format: String, limit: () => undefined },
  { title: "Disk", pick: ({ diskBytes }) => diskBytes, format: formatBytes, limit: () => undefined },
];

export function ResourcesPage() {
  const name = useBoxName();
  const { data, error } = useQuery({
    queryKey: ["box", name, "resources"],
    queryFn: () => client.getResources(name),
    refetchInterval: everyMs,
  });
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={640} />;
  if (data.samples.length === 0)
    return (
      <Empty title="Nothing is measured">
        <p className="quiet">Start the box to measure it.</p>
      </Empty>
    );
  return (
    <div className="parts-stack">
      <div className="box-charts">
        {measures.map((measure) => (
          <MeasureChart key={measure.title} answer={data} measure={measure} />
        ))}
      </div>
      <Summary answer={data} />
    </div>
  );
}

function pointsOf({ samples }: ResourcesAnswer, { pick }: Measure) {
  const points = samples.flatMap((sample) => {
    const value = pick(sample);
    return value === undefined ? [] : [{ atS: sample.atMs / 1_000, value }];
  });
  return { times: points.map(({ atS }) => atS), values: points.map(({ value }) => value) };
}

function MeasureChart({ answer, measure }: { answer: ResourcesAnswer; measure: Measure }) {
  const { times, values } = pointsOf(answer, measure);
  if (values.length === 0) return null;
  return (
    <Panel title={measure.title}>
      <Chart
        label={`${measure.title}, recent. The table below has the numbers.`}
        times={times}
        values={values}
        format={measure.format}
        limit={measure.limit(answer)}
      />
    </Panel>
  );
}

const meanOf = (values: readonly number[]): number => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return mean < 10 ? Math.round(mean * 10) / 10 : Math.round(mean);
};

/** The same in numbers, for who cannot see lines. */
function Summary({ answer }: { answer: ResourcesAnswer }) {
  return (
    <TableScroll>
      <table className="table">
        <caption className="visually-hidden">Recent use of the box</caption>
        <TableHead columns={["Measure", "Now", "Average", "Peak", "Limit"]} />
        <tbody>
          {measures.map((measure) => {
            const { values } = pointsOf(answer, measure);
            if (values.length === 0) return null;
            const { title, format } = measure;
            const limit = measure.limit(answer);
            return (
              <tr key={title}>
                <th scope="row">{title}</th>
                <td className="number">{format(values.at(-1) ?? 0)}</td>
                <td className="number">{format(meanOf(values))}</td>
                <td className="number">{format(Math.max(...values))}</td>
                <td className="number">{limit === undefined ? "none" : format(limit)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </TableScroll>
  );
}
