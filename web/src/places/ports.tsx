import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";

const everyMs = 5_000;

/** Only a browser on the machine itself finds names below localhost here. */
const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);

/** What listens in the box, and the way to see it. */
export function Ports({ box }: { box: string }) {
  const mayOpen = useMay("work") && useMayOn(box, "work");
  const { data, error } = useQuery({
    queryKey: ["places", box, "ports"],
    queryFn: () => client.listPorts(box),
    refetchInterval: everyMs,
  });
  const open = useAction((port: number) => client.openPreview(box, port), {
    done: "The preview opens in a new tab.",
    // SECURITY: without a way back: what the box serves must not be able to steer the page that it was opened from.
    onDone: ({ url }) => void window.open(url, "_blank", "noopener,noreferrer"),
  });
  if (data === undefined)
    return error ? <ErrorNote error={error} /> : <Skeleton height={120} label="Looking for ports" />;
  if (data.length === 0)
    return (
      <Empty title="Nothing listens on a port">
        <p>As soon as a program in the box does, it is here.</p>
      </Empty>
    );
  return (
    <>
      {isHere ? null : <Note>Previews open in a browser on the machine that AgentBox runs on.</Note>}
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
                      isBusy={open.isBusy}
                      aria-label={`Open a preview of port ${port}`}
                      onClick={() => open.run(port)}
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
