import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../api/client.ts";
import { Badge, type Tone } from "../parts/badge.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { Panel } from "./panel.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";
import { TableHead } from "../parts/table-head.tsx";

const tones: Readonly<Record<string, Tone>> = { allow: "good", ask: "warn", deny: "bad", bound: "info" };

/** The policy in force, in the order in which it decides; and one learned from what the box wanted. */
export function PolicyPanel({ name }: { name: string }) {
  const { data, error } = useQuery({
    queryKey: ["box", name, "policy"],
    queryFn: () => client.getPolicy(name),
  });
  return (
    <Panel title="Policy in force">
      {error ? <ErrorNote error={error} /> : null}
      {!data && !error ? <Skeleton height={120} /> : null}
      {data ? (
        <TableScroll>
          <table className="table box-stacked">
            <TableHead columns={["Verdict", "What", "Rule", "Written in"]} />
            <tbody>
              {data.lines.map(({ verdict, what, rule, where }, index) => (
                <tr key={`${rule} ${index}`}>
                  <td>
                    <Badge tone={tones[verdict] ?? "plain"}>{verdict}</Badge>
                  </td>
                  <td className="mono">
                    <Visible text={what} />
                  </td>
                  <td className="mono small">
                    <Visible text={rule} />
                  </td>
                  <td className="quiet small">
                    <Visible text={where} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableScroll>
      ) : null}
      <Learned name={name} />
    </Panel>
  );
}

function Learned({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["box", name, "learned"],
    queryFn: () => client.learnPolicy(name),
    enabled: isOpen,
  });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>A policy for all that it asked for, to paste into agentbox.toml</summary>
      {error ? <ErrorNote error={error} /> : null}
      {data ? (
        <>
          <pre className="box-code">
            <Visible text={data.toml} />
          </pre>
          <CopyButton text={data.toml} />
        </>
      ) : null}
    </details>
  );
}
