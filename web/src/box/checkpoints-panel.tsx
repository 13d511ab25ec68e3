import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Checkpoint } from "../../../src/contract/review/checkpoint.ts";
import { client } from "../api/client.ts";
import { Ago } from "../parts/amount.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmButton, Dialog } from "../parts/dialog.tsx";
import { Field, TextInput } from "../parts/field.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { Panel } from "./panel.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";
import { TableHead } from "../parts/table-head.tsx";

interface CheckpointsProps {
  readonly name: string;
  readonly isOwn: boolean;
  readonly canWork: boolean;
}

export function CheckpointsPanel({ name, isOwn, canWork }: CheckpointsProps) {
  const queryKey = ["review", name, "checkpoints"];
  const { data, error } = useQuery({ queryKey, queryFn: () => client.listCheckpoints(name) });
  const [label, setLabel] = useState("");
  const [forked, setForked] = useState<Checkpoint>();
  const take = useAction(() => client.takeCheckpoint(name, label === "" ? {} : { name: label }), {
    done: (checkpoint) =>
      checkpoint === undefined
        ? "Nothing has changed since the last one."
        : `Checkpoint ${checkpoint.number} saved.`,
    invalidates: [queryKey],
    onDone: () => setLabel(""),
  });
  return (
    <Panel title="Checkpoints">
      {error ? <ErrorNote error={error} /> : null}
      {!data && !error ? <Skeleton height={80} /> : null}
      {canWork ? (
        <form
          className="parts-row"
          onSubmit={(event) => {
            event.preventDefault();
            take.run();
          }}
        >
          <Field label="Name (optional)">
            <TextInput
              value={label}
              placeholder="before-the-rewrite"
              onChange={({ target }) => setLabel(target.value)}
            />
          </Field>
          <Button type="submit" isBusy={take.isBusy}>
            Take checkpoint
          </Button>
        </form>
      ) : null}
      {data && data.length > 0 ? (
        <TableScroll>
          <table className="table box-stacked">
            <TableHead columns={["Checkpoint", "When", "Changes since the start"]} hasActions />
            <tbody>
              {data.map((checkpoint) => (
                <CheckpointRow
                  key={checkpoint.number}
                  checkpoint={checkpoint}
                  canWork={canWork}
                  onFork={isOwn && canWork ? () => setForked(checkpoint) : undefined}
                />
              ))}
            </tbody>
          </table>
        </TableScroll>
      ) : null}
      {forked === undefined ? null : (
        <ForkDialog name={name} checkpoint={forked} onClose={() => setForked(undefined)} />
      )}
    </Panel>
  );
}

function CheckpointRow({
  checkpoint,
  canWork,
  onFork,
}: {
  checkpoint: Checkpoint;
  canWork: boolean;
  onFork: (() => void) | undefined;
}) {
  const { box, number, name, atMs, reason, totals } = checkpoint;
  const restore = useAction(() => client.restoreCheckpoint(box, { checkpoint: String(number) }), {
    done: `Restored checkpoint ${number}. The state before it is saved, too.`,
    invalidates: [
      ["review", box],
      ["box", box],
    ],
  });
  return (
    <tr>
      <td>
        {number} {name === undefined ? null : <Visible text={name} />}
        <span className="quiet small"> {reason}</span>
      </td>
      <td>
        <Ago atMs={atMs} />
      </td>
      <td>
        {totals.files} files, +{totals.added} −{totals.deleted}
      </td>
      <td>
        <span className="parts-row">
          {canWork ? (
            <ConfirmButton
              question={`Bring the workspace back to checkpoint ${number}?`}
              confirm="Restore"
              details={<p>The current state is saved as a checkpoint first.</p>}
              isBusy={restore.isBusy}
              onConfirm={() => restore.run()}
            >
              Restore
            </ConfirmButton>
          ) : null}
          {onFork === undefined ? null : <Button onClick={onFork}>Fork</Button>}
        </span>
      </td>
    </tr>
  );
}

function ForkDialog({
  name,
  checkpoint,
  onClose,
}: {
  name: string;
  checkpoint: Checkpoint;
  onClose: () => void;
}) {
  const [fork, setFork] = useState("");
  const navigate = useNavigate();
  const { run, isBusy, error } = useAction(
    () =>
      client.forkBox(name, {
        checkpoint: String(checkpoint.number),
        ...(fork === "" ? {} : { name: fork }),
      }),
    {
      done: ({ box }) => `Created ${box.name}.`,
      invalidates: [["boxes"]],
      onDone: ({ box }) => void navigate({ to: "/box/$name", params: { name: box.name } }),
      isQuiet: true,
    },
  );
  return (
    <Dialog
      title={`A new box from checkpoint ${checkpoint.number}`}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => run()}>
            Fork
          </Button>
        </>
      }
    >
      <Field label="Name" hint="Empty: chosen for you.">
        <TextInput value={fork} onChange={({ target }) => setFork(target.value)} />
      </Field>
      {error ? <ErrorNote error={error} /> : null}
    </Dialog>
  );
}
