import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";
import { PreviewQuestion, PreviewWarning, useOpenPreview } from "./open-preview.tsx";

const everyMs = 5_000;

/** Only a browser on the machine itself finds names below localhost here. */
const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);

/** The listeners in the box, and the way to see them. */
export function Ports({ box }: { box: string }) {
  const isWorker = useMayOn(box, "work");
  const mayOpen = useMay("work") && isWorker;
  const { data, error } = useQuery({
    queryKey: ["files-and-services", box, "ports"],
    queryFn: () => client.listPorts(box),
    refetchInterval: everyMs,
  });
  const preview = useOpenPreview(box);
  if (data === undefined)
    return error ? <ErrorNote error={error} /> : <Skeleton height={120} label="Looking for ports" />;
  if (data.length === 0)
    return (
      <Empty title="Nothing listens on a port">
        <p>Ports appear here when a program in the box listens.</p>
      </Empty>
    );
  return (
    <>
      {isHere ? null : <Note>Previews open in a browser on the machine that AgentBox runs on.</Note>}
      {mayOpen ? <PreviewWarning /> : null}
      <PreviewQuestion box={box} question={preview.question} onAnswer={(isYes) => preview.answer(isYes)} />
      <TableScroll>
        <table className="table">
          <thead>
            <tr>
              <th scope="col" className="number">
                Port
              </th>
              <th scope="col">Address</th>
              <th scope="col">Program</th>
              <th scope="col">
                <span className="visually-hidden">Preview</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.map(({ port, address, program, service }) => (
              <tr key={port}>
                <td className="number mono">{port}</td>
                <td className="mono">
                  <Visible text={address} />
                </td>
                <td>
                  <Visible text={[service, program].filter((word) => word !== undefined).join(", ")} />
                </td>
                <td>
                  {mayOpen ? (
                    <Button
                      isBusy={preview.isBusy}
                      aria-label={`Open a preview of port ${port}`}
                      onClick={() => preview.open(port)}
                    >
                      <Icon name="globe" /> Open preview
                    </Button>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableScroll>
    </>
  );
}
