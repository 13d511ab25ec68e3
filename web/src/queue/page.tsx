/** The queue: what waits, in an order that can be changed, what runs, and what there is to review. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import type { QueueSettings, QueuedTask } from "../../../src/contract/api/schemas/queue.ts";
import { isOver, mostAtOnce, toReview } from "../../../src/contract/queue.ts";
import { client } from "../api/client.ts";
import { useMay } from "../api/me.ts";
import { queueQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { Field, Select, TextInput } from "../parts/field.tsx";
import { Empty, ErrorNote, Note, PageHeader, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { AddTasks } from "./add-tasks.tsx";
import { TaskRow } from "./task-row.tsx";

export function TaskQueuePage() {
  const { data, error } = useQuery(queueQuery);
  const mayWork = useMay("work");
  const tasks = data?.tasks ?? [];
  const open = tasks.filter((task) => !isOver(task));
  const over = tasks.filter(isOver).toReversed();
  return (
    <div className="parts-stack queue-page">
      <PageHeader title="Queue">
        <p className="quiet">Tasks wait for their turn, and each gets a box of its own.</p>
      </PageHeader>
      {error === null ? null : <ErrorNote error={error} />}
      {data === undefined && error === null ? <Skeleton height={480} /> : null}
      {data === undefined ? null : (
        <>
          <Settings settings={data.settings} mayChange={mayWork} />
          {mayWork ? <AddTasks /> : null}
          <Section title="Waiting and running" tasks={open} mayChange={mayWork}>
            <Empty title="No tasks are waiting">
              <code>agentbox queue "fix the tests" --agent claude</code>
            </Empty>
          </Section>
          <Review tasks={tasks} />
          {over.length === 0 ? null : <Section title="Ended" tasks={over} mayChange={mayWork} />}
        </>
      )}
    </div>
  );
}

function Settings({ settings, mayChange }: { settings: QueueSettings; mayChange: boolean }) {
  const change = useAction((body: Parameters<typeof client.changeQueue>[0]) => client.changeQueue(body), {
    invalidates: [queueQuery.queryKey],
  });
  const { isPaused, atOnce, why, total } = settings;
  // It counts from when it is set, so what is there already is not set again.
  const setTotal = (text: string) => {
    const usd = Number(text.replace(",", "."));
    const wanted = usd > 0 ? usd : undefined;
    if (Number.isNaN(usd) || change.isBusy || wanted === total?.usd) return;
    change.run({ total: { ...omitUndefined({ tokens: total?.tokens, usd: wanted }) } });
  };
  return (
    <>
      <div className="parts-row queue-settings">
        <Field label="At a time">
          <Select
            value={String(atOnce)}
            disabled={!mayChange || change.isBusy}
            onChange={({ target }) => change.run({ atOnce: Number(target.value) })}
          >
            {Array.from({ length: mostAtOnce }, (_, index) => (
              <option key={index} value={index + 1}>
                {index + 1}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Total budget, in US dollars">
          <TextInput
            key={total?.usd ?? ""}
            inputMode="decimal"
            placeholder="no limit"
            defaultValue={total?.usd ?? ""}
            disabled={!mayChange || change.isBusy}
            onBlur={({ target }) => setTotal(target.value)}
            onKeyDown={({ key, currentTarget }) => {
              if (key === "Enter") setTotal(currentTarget.value);
            }}
          />
        </Field>
        <Button
          disabled={!mayChange}
          isBusy={change.isBusy}
          onClick={() => change.run({ isPaused: !isPaused })}
        >
          {isPaused ? "Resume" : "Pause"}
        </Button>
      </div>
      {isPaused ? (
        <Note tone="warn">
          <strong>The queue is paused.</strong>
          <span>{why ?? "Running tasks go on. No new ones start."}</span>
        </Note>
      ) : null}
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly tasks: readonly QueuedTask[];
  readonly mayChange: boolean;
  /** Shown without tasks. */
  readonly children?: ReactNode;
}

function Section({ title, tasks, mayChange, children }: SectionProps) {
  const waiting = tasks.filter(({ state }) => state === "waiting");
  return (
    <section className="parts-stack" aria-label={title}>
      <h2>{title}</h2>
      {tasks.length === 0 ? children : null}
      <ol className="queue-list">
        {tasks.map((task) => {
          const index = waiting.indexOf(task);
          return (
            <TaskRow
              key={task.id}
              task={task}
              mayChange={mayChange}
              above={index > 0 ? waiting[index - 1] : undefined}
              below={index === -1 ? undefined : waiting[index + 1]}
              belowThat={index === -1 ? undefined : waiting[index + 2]}
            />
          );
        })}
      </ol>
    </section>
  );
}

/** The results of the queue: work to look at. */
function Review({ tasks }: { tasks: readonly QueuedTask[] }) {
  const { length } = toReview(tasks);
  if (length === 0) return null;
  return (
    <Note>
      <strong>{length === 1 ? "1 box is ready for review." : `${length} boxes are ready for review.`}</strong>
      <Link to="/review">Review them</Link>
    </Note>
  );
}
