import { useQuery } from "@tanstack/react-query";
import { unmergedWords } from "../../../src/contract/review/unmerged-words.ts";
import type { RemovedBox } from "../../../src/contract/review/removed.ts";
import { client } from "../api/client.ts";
import { useMay } from "../api/me.ts";
import { Ago, Left } from "../parts/amount.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { removedKey } from "./say-removed.ts";

const invalidates = [removedKey, ["boxes"]];

function RemovedRow({ removed }: { removed: RemovedBox }) {
  const { id, name, task, unmerged, removedAtMs, expiresAtMs } = removed;
  const mayWork = useMay("work");
  const restore = useAction(() => client.restoreRemoved(id), {
    done: ({ box }) => `Restored ${box.name}.`,
    invalidates,
  });
  const forget = useAction(() => client.forgetRemoved(id), {
    done: `Deleted the work of ${name}.`,
    invalidates,
  });
  return (
    <tr>
      <td>
        <strong>{name}</strong>
        {task === undefined ? null : (
          <div className="small quiet removal-task">
            <Visible text={task.split("\n", 1)[0] ?? ""} />
          </div>
        )}
      </td>
      <td data-label="Unmerged">
        {unmerged.files === 0 ? <span className="quiet">nothing</span> : unmergedWords(unmerged)}
      </td>
      <td data-label="Removed">
        <Ago atMs={removedAtMs} />
      </td>
      <td data-label="Kept for">
        <Left untilMs={expiresAtMs} />
      </td>
      <td>
        {mayWork ? (
          <div className="parts-row">
            <Button isBusy={restore.isBusy} aria-label={`Restore ${name}`} onClick={() => restore.run()}>
              Restore
            </Button>
            <ConfirmButton
              kind="danger"
              question={`Delete the work of ${name} for good?`}
              confirm="Delete"
              aria-label={`Delete ${name} for good`}
              details={<p>It cannot be restored afterwards.</p>}
              isBusy={forget.isBusy}
              onConfirm={() => forget.run()}
            >
              Delete
            </ConfirmButton>
          </div>
        ) : null}
      </td>
    </tr>
  );
}

/** Removed boxes whose work is kept. */
export function RemovedPanel() {
  const { data, error } = useQuery({ queryKey: removedKey, queryFn: () => client.listRemoved() });
  return (
    <section className="parts-card parts-stack" aria-label="Removed boxes">
      <h2>Removed boxes</h2>
      {error ? <ErrorNote error={error} /> : null}
      {!data && !error ? <Skeleton height={80} /> : null}
      {data?.length === 0 ? <p className="quiet">No removed box is kept.</p> : null}
      {data && data.length > 0 ? (
        <TableScroll>
          <table className="table box-stacked">
            <caption className="visually-hidden">Removed boxes whose work is kept</caption>
            <TableHead columns={["Box", "Unmerged", "Removed", "Kept for"]} hasActions />
            <tbody>
              {data.map((removed) => (
                <RemovedRow key={removed.id} removed={removed} />
              ))}
            </tbody>
          </table>
        </TableScroll>
      ) : null}
    </section>
  );
}
