import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { QueuedTask } from "../../../src/contract/api/schemas/queue.ts";
import { isOver } from "../../../src/contract/queue.ts";
import { client } from "../api/client.ts";
import { queueQuery } from "../api/queries.ts";
import { Ago } from "../parts/amount.tsx";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Button, IconButton } from "../parts/button.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";

interface TaskRowProps {
  readonly task: QueuedTask;
  readonly mayChange: boolean;
  /** The waiting tasks around it; absent for those that do not wait. */
  readonly above: QueuedTask | undefined;
  readonly below: QueuedTask | undefined;
  readonly belowThat: QueuedTask | undefined;
}

const dragged = "application/x-agentbox-task";

const tones: Readonly<Record<QueuedTask["state"], Tone>> = {
  waiting: "plain",
  starting: "info",
  running: "accent",
  held: "warn",
  ended: "plain",
  refused: "bad",
};

function wordOf({ state, verdict }: QueuedTask): string {
  if (state === "held") return "out of budget";
  return state === "ended" ? (verdict ?? "ended").replaceAll("_", " ") : state;
}

const toneOf = (task: QueuedTask): Tone =>
  task.state === "ended" ? (task.verdict === "done" ? "good" : "bad") : tones[task.state];

export function TaskRow({ task, mayChange, above, below, belowThat }: TaskRowProps) {
  const [isOverIt, setOverIt] = useState(false);
  const options = { invalidates: [queueQuery.queryKey] };
  const move = useAction(
    (what: { id: number; before: number | undefined }) => client.moveQueued(what),
    options,
  );
  const remove = useAction(() => client.removeQueued({ ids: [task.id] }), options);
  const retry = useAction(() => client.retryQueued({ ids: [task.id] }), { ...options, done: "Queued again" });
  const isWaiting = task.state === "waiting";
  const canMove = mayChange && isWaiting;
  const name = task.task.trim().split("\n")[0] ?? "";
  const isBusy = move.isBusy || remove.isBusy || retry.isBusy;
  const isRunning = task.state === "starting" || task.state === "running";
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- dragging is one way to move a task; the buttons of the row are the other
    <li
      className={`parts-card queue-task ${isOverIt ? "queue-task-target" : ""}`}
      aria-label={name}
      draggable={canMove}
      onDragStart={({ dataTransfer }) => dataTransfer.setData(dragged, String(task.id))}
      onDragOver={(event) => {
        if (!canMove || !event.dataTransfer.types.includes(dragged)) return;
        event.preventDefault();
        setOverIt(true);
      }}
      onDragLeave={() => setOverIt(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOverIt(false);
        const id = Number(event.dataTransfer.getData(dragged));
        if (id > 0 && id !== task.id) move.run({ id, before: task.id });
      }}
    >
      <div className="queue-task-text">
        <strong>
          <Visible text={name} />
        </strong>
        <span className="small quiet parts-row">
          <Badge tone={toneOf(task)}>{wordOf(task)}</Badge>
          <span>{task.agent}</span>
          {task.person === undefined || task.isYours ? null : <span>{task.person}</span>}
          {task.projectDir === undefined ? null : (
            <span className="queue-task-dir" title={task.projectDir}>
              <Visible text={task.projectDir.split("/").at(-1) ?? ""} />
            </span>
          )}
          {task.box === undefined ? null : task.isBoxThere ? (
            <Link to="/box/$name" params={{ name: task.box }}>
              {task.box}
            </Link>
          ) : (
            <span>{task.box}, removed</span>
          )}
          {task.changedFiles === undefined ? null : (
            <span>{task.changedFiles === 1 ? "1 file" : `${task.changedFiles} files`}</span>
          )}
          <Ago atMs={task.endedAtMs ?? task.startedAtMs ?? task.addedAtMs} />
        </span>
        {task.why !== undefined && task.verdict !== "done" ? (
          <span className="small">
            <Visible text={task.why} />
          </span>
        ) : null}
      </div>
      {mayChange ? (
        <div className="parts-row queue-task-actions">
          {isWaiting ? (
            <>
              <IconButton
                label={`Move up: ${name}`}
                icon="up"
                disabled={above === undefined || isBusy}
                onClick={() => move.run({ id: task.id, before: above?.id })}
              />
              <IconButton
                label={`Move down: ${name}`}
                icon="down"
                disabled={below === undefined || isBusy}
                onClick={() => move.run({ id: task.id, before: belowThat?.id })}
              />
            </>
          ) : null}
          {isOver(task) ? (
            <Button isBusy={isBusy} onClick={() => retry.run()}>
              Retry
            </Button>
          ) : null}
          {isRunning ? null : (
            <IconButton
              label={`Remove from the queue: ${name}`}
              icon="close"
              isBusy={isBusy}
              onClick={() => remove.run()}
            />
          )}
        </div>
      ) : null}
    </li>
  );
}
