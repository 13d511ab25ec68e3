import type { ReactNode } from "react";
import type { Review } from "../../../src/contract/review/review.ts";
import { Count, Money } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { formatSpan } from "../parts/format.ts";
import { Visible } from "../parts/visible.tsx";
import { Lines } from "./diff/diff-rows.tsx";

/** The session besides its diff: time, money, hosts, secrets. */
export function SessionFacts({ review }: { review: Review }) {
  const { summary, totals, agent } = review;
  const { usage, costMicroUsd, unpriced, requests } = summary.usage;
  return (
    <details className="review-summary">
      <summary>
        <span className="parts-row">
          <strong>
            {totals.files.toLocaleString("en-US")} {totals.files === 1 ? "file" : "files"}
          </strong>
          <Lines added={totals.added} deleted={totals.deleted} />
          <span className="quiet">
            <Visible text={agent} /> · {formatSpan(summary.durationMs)}
          </span>
          {summary.verdict === undefined ? null : (
            <Badge tone={summary.verdict === "done" ? "good" : "warn"}>
              {summary.verdict.replaceAll("_", " ")}
            </Badge>
          )}
          {summary.hostsDenied.length === 0 ? null : (
            <Badge tone="warn">
              {summary.hostsDenied.length} {summary.hostsDenied.length === 1 ? "host" : "hosts"} denied
            </Badge>
          )}
          {summary.exceptions.length === 0 ? null : <Badge tone="bad">ran with exceptions</Badge>}
        </span>
      </summary>
      <dl className="review-facts">
        <Fact name="Time">{formatSpan(summary.durationMs)}</Fact>
        <Fact name="Turns">
          <Count n={summary.turns} />
        </Fact>
        <Fact name="Tools called">
          <Count n={summary.commands} />
        </Fact>
        <Fact name="Tokens">
          <Count n={usage.input} /> in, <Count n={usage.output} /> out
        </Fact>
        <Fact name="Cost">
          {requests === 0 ? (
            "no model was asked"
          ) : (
            <>
              <Money microUsd={costMicroUsd} />
              {unpriced === 0 ? "" : `, and ${unpriced} of ${requests} requests whose price is not known`}
            </>
          )}
        </Fact>
        <Fact name="Hosts reached">
          <Names names={summary.hostsReached} />
        </Fact>
        <Fact name="Hosts denied">
          <Names names={summary.hostsDenied} />
        </Fact>
        <Fact name="Secrets">
          <Names
            names={summary.secrets.map(
              ({ name, uses, isHeld }) =>
                `${name} (${isHeld ? "the box holds it" : `used ${uses} ${uses === 1 ? "time" : "times"}`})`,
            )}
          />
        </Fact>
        <Fact name="Exceptions">
          <Names names={summary.exceptions.map(({ name, reason }) => `${name}: ${reason}`)} />
        </Fact>
      </dl>
    </details>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt className="small quiet">{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Names = ({ names }: { names: readonly string[] }) =>
  names.length === 0 ? <span className="quiet">none</span> : <Visible text={names.join(", ")} />;
