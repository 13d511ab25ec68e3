import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { targetText } from "../../../src/contract/network/egress-words.ts";
import { boxesQuery } from "../api/queries.ts";
import { Ago } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { Select } from "../parts/field.tsx";
import { Empty, ErrorNote, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { receiptsQuery, secretsQuery } from "./vault-queries.ts";
import { outcomeOf, resultText } from "./words.ts";

const tones = { used: "good", refused: "bad", "not sent": "plain" } as const;

/** Where secrets went, and where they were refused. */
export function Receipts() {
  const [name, setName] = useState("");
  const [box, setBox] = useState("");
  const secrets = useQuery(secretsQuery).data ?? [];
  const boxes = useQuery(boxesQuery).data ?? [];
  const { data, error } = useQuery(receiptsQuery({ name, box }));
  return (
    <section className="parts-stack" aria-labelledby="vault-receipts">
      <div className="parts-header">
        <h2 id="vault-receipts">Receipts</h2>
        <div className="parts-row">
          <Select
            aria-label="Secret"
            className="vault-filter"
            value={name}
            onChange={({ target }) => setName(target.value)}
          >
            <option value="">all secrets</option>
            {secrets.map(({ secret }) => (
              <option key={secret.name} value={secret.name}>
                {secret.name}
              </option>
            ))}
          </Select>
          <Select
            aria-label="Box"
            className="vault-filter"
            value={box}
            onChange={({ target }) => setBox(target.value)}
          >
            <option value="">all boxes</option>
            {boxes.map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </Select>
        </div>
      </div>
      {error ? <ErrorNote error={error} /> : null}
      {data === undefined && !error ? <Skeleton height={160} /> : null}
      {data?.length === 0 ? <Empty title="No secret has been used or refused yet" /> : null}
      {data === undefined || data.length === 0 ? null : (
        <section className="table-scroll" tabIndex={0} aria-label="Receipts">
          <table className="table box-stacked">
            <thead>
              <tr>
                <th>When</th>
                <th>Box</th>
                <th>Secret</th>
                <th>What</th>
                <th>Where</th>
                <th>Result</th>
              </tr>
            </thead>
            <tbody>
              {data.map((record) => (
                <tr key={record.id}>
                  <td>
                    <Ago atMs={record.atMs} />
                  </td>
                  <td>{record.box}</td>
                  <td className="mono">{record.secret}</td>
                  <td>
                    <Badge tone={tones[outcomeOf(record)]}>{outcomeOf(record)}</Badge>
                  </td>
                  <td className="mono">
                    <Visible text={targetText(record)} />
                  </td>
                  <td>{resultText(record)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
