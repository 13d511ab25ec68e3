import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { UsageAnswer } from "../../../src/contract/api/schemas.ts";
import { Count, Money } from "../parts/amount.tsx";
import { Visible } from "../parts/visible.tsx";
import { type Measure, amountOf } from "./day-chart.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";

type Group = UsageAnswer["groups"][number];
export type By = "box" | "agent" | "project" | "model" | "day";

const most = 200;

/** An unknown price is never shown as free. */
export function Cost({
  totals: { costMicroUsd, unpriced, requests },
}: {
  totals: UsageAnswer["totals"];
}): ReactNode {
  if (requests > 0 && unpriced === requests)
    return <span title="No price of these models is known.">$?</span>;
  return (
    <>
      <Money microUsd={costMicroUsd} />
      {unpriced > 0 ? <span title={`${unpriced} requests have no known price.`}>+</span> : null}
    </>
  );
}

interface TotalsTableProps {
  readonly by: By;
  readonly groups: readonly Group[];
  readonly measure: Measure;
  readonly caption: string;
  /** Boxes that are still there, to lead to them. */
  readonly boxes: ReadonlySet<string>;
}

export function TotalsTable({ by, groups, measure, caption, boxes }: TotalsTableProps) {
  const greatest = Math.max(1, ...groups.map(({ totals }) => amountOf(totals, measure)));
  return (
    <TableScroll>
      <table className="table cost-table">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{by === "day" ? "Day (UTC)" : by.charAt(0).toUpperCase() + by.slice(1)}</th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col" className="number">
              Input
            </th>
            <th scope="col" className="number cost-wide">
              of it cached
            </th>
            <th scope="col" className="number">
              Output
            </th>
            <th scope="col" className="number cost-wide">
              Requests
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.slice(0, most).map(({ key, totals }) => (
            <tr key={key}>
              <th scope="row" className="cost-key">
                {by === "box" && boxes.has(key) ? (
                  <Link to="/box/$name" params={{ name: key }}>
                    {key}
                  </Link>
                ) : (
                  <Visible text={key === "" ? "no project" : key} />
                )}
                <span
                  className="cost-share"
                  aria-hidden="true"
                  style={{ width: `${(amountOf(totals, measure) / greatest) * 100}%` }}
                />
              </th>
              <td className="number">
                <Cost totals={totals} />
              </td>
              <td className="number">
                <Count n={totals.usage.input} />
              </td>
              <td className="number cost-wide">
                <Count n={totals.usage.cached} />
              </td>
              <td className="number">
                <Count n={totals.usage.output} />
              </td>
              <td className="number cost-wide">
                <Count n={totals.requests} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {groups.length > most ? (
        <p className="quiet small cost-more">{groups.length - most} more are in the CSV.</p>
      ) : null}
    </TableScroll>
  );
}
