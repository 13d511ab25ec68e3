import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { client } from "../api/client.ts";
import { Bytes } from "../parts/amount.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { formatBytes } from "../parts/format.ts";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { useMay } from "../api/me.ts";
import { removedKey } from "../removal/say-removed.ts";
import { Section } from "./section.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";
import { TableHead } from "../parts/table-head.tsx";

const queryKey = ["disk"];
const shownBoxes = 20;

export function DiskPanel() {
  const { data, error } = useQuery({ queryKey, queryFn: () => client.getDisk(), staleTime: 60_000 });
  const mayPrune = useMay("host");
  const prune = useAction(() => client.prune({}), {
    done: ({ removed, unmerged, freedBytes }) =>
      `Removed ${removed.length} stopped ${removed.length === 1 ? "box" : "boxes"}, freed ${formatBytes(freedBytes)}.${
        unmerged.length === 0 ? "" : ` Kept ${unmerged.length} with unmerged work.`
      }`,
    invalidates: [queryKey, removedKey, ["boxes"]],
  });
  return (
    <Section title="Disk">
      {error ? <ErrorNote error={error} /> : null}
      {!data && !error ? <Skeleton height={160} /> : null}
      {data ? (
        <>
          <p>
            <Bytes n={data.totalBytes} /> used, <Bytes n={data.freeBytes} /> free,{" "}
            <Bytes n={data.prunableBytes} /> in boxes that could be removed.
          </p>
          <TableScroll>
            <table className="table">
              <caption className="visually-hidden">What takes space</caption>
              <TableHead columns={["What", "Size"]} />
              <tbody>
                {data.shared.map(({ name, bytes }) => (
                  <tr key={name}>
                    <td>{name}</td>
                    <td className="number">{bytes === null ? "not counted" : <Bytes n={bytes} />}</td>
                  </tr>
                ))}
                {data.boxes.slice(0, shownBoxes).map(({ name, totalBytes }) => (
                  <tr key={`box ${name}`}>
                    <td>
                      <Link to="/box/$name" params={{ name }}>
                        {name}
                      </Link>
                    </td>
                    <td className="number">
                      <Bytes n={totalBytes} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TableScroll>
          {mayPrune ? (
            <div>
              <ConfirmButton
                kind="danger"
                question="Remove all stopped boxes?"
                confirm="Remove them"
                details={
                  <p>Boxes with unmerged work stay. The work of the others can be restored for a while.</p>
                }
                disabled={data.prunableBytes === 0}
                isBusy={prune.isBusy}
                onConfirm={() => prune.run()}
              >
                Remove stopped boxes
              </ConfirmButton>
            </div>
          ) : null}
        </>
      ) : null}
    </Section>
  );
}
