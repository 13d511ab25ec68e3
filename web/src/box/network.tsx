/** A box's connections, denials with their reasons, and its policy. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Box } from "../../../src/contract/box.ts";
import { reasonText, targetText } from "../../../src/contract/network/egress-words.ts";
import type { EgressRecord, HostSummary } from "../../../src/contract/network/egress.ts";
import { client } from "../api/client.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { approvalsQuery } from "../api/queries.ts";
import { Question } from "../inbox/question.tsx";
import { useReading } from "../inbox/reading.ts";
import { Ago, Bytes } from "../parts/amount.tsx";
import { Button } from "../parts/button.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { type Target, canAllow } from "./allow.ts";
import { AllowDialog } from "./allow-dialog.tsx";
import { type Asked, ExplainPanel } from "./explain-panel.tsx";
import { Panel } from "./panel.tsx";
import { PolicyPanel } from "./policy-panel.tsx";
import { useBox, useBoxName } from "./use-box.ts";
import { TableScroll } from "../parts/table-scroll.tsx";
import { TableHead } from "../parts/table-head.tsx";

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

const shownDenials = 100;
/** Bytes are counted without an event for each. */
const everyMs = 4_000;

export function NetworkPage() {
  const name = useBoxName();
  const { data, error } = useBox(name);
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={480} />;
  return <Network key={data.box.incarnation} box={data.box} />;
}

function Network({ box }: { box: Box }) {
  const { name, projectDir } = box;
  const [allowing, setAllowing] = useState<Target>();
  const [asked, setAsked] = useState<Asked>();
  const isOwn = useMayOn(name, "own");
  const mayAllow = useMay("approve") && isOwn;
  const questions = (useQuery(approvalsQuery).data ?? []).filter((one) => one.box === name);
  const isRead = useReading(questions);
  const actions = {
    onAllow: mayAllow ? setAllowing : undefined,
    onWhy: ({ host, port, path = "", method = "GET" }: Target) =>
      setAsked({ url: `${host}:${port}${path}`, method }),
  };
  return (
    <div className="parts-stack">
      {questions.length === 0 ? null : (
        <Panel title="Open questions" className="box-needs">
          {questions.map((approval) => (
            <Question key={approval.id} approval={approval} isRead={isRead} />
          ))}
        </Panel>
      )}
      <Hosts name={name} {...actions} />
      <Denials box={box} {...actions} />
      <ExplainPanel name={name} asked={asked} />
      <PolicyPanel name={name} />
      {allowing === undefined ? null : (
        <AllowDialog
          name={name}
          target={allowing}
          hasProject={projectDir !== undefined}
          onClose={() => setAllowing(undefined)}
        />
      )}
    </div>
  );
}

interface Actions {
  readonly onAllow: ((target: Target) => void) | undefined;
  readonly onWhy: (target: Target) => void;
}

function TargetButtons({
  target,
  reason,
  onAllow,
  onWhy,
}: Actions & { target: Target; reason: string | undefined }) {
  const what = targetText(target);
  return (
    <span className="parts-row box-target-buttons">
      <Button kind="quiet" aria-label={`Why: ${what}`} onClick={() => onWhy(target)}>
        Why?
      </Button>
      {onAllow !== undefined && canAllow(reason) ? (
        <Button aria-label={`Allow this: ${what}`} onClick={() => onAllow(target)}>
          Allow this
        </Button>
      ) : null}
    </span>
  );
}

function Hosts({ name, ...actions }: Actions & { name: string }) {
  const { data, error } = useQuery({
    queryKey: ["box", name, "net"],
    queryFn: () => client.getNet(name),
    refetchInterval: everyMs,
  });
  return (
    <Panel title="Hosts">
      {error ? <ErrorNote error={error} /> : null}
      {!data && !error ? <Skeleton height={120} /> : null}
      {data ? (
        <p className="quiet">
          {plural(data.hosts.length, "host")}, {plural(data.requests, "request")},{" "}
          {plural(data.denials, "denial")}, <Bytes n={data.bytesOut} /> sent, <Bytes n={data.bytesIn} />{" "}
          received
        </p>
      ) : null}
      {data && data.hosts.length > 0 ? (
        <TableScroll>
          <table className="table box-stacked">
            <TableHead columns={["Host", "Requests", "Denials", "Sent", "Received", "Last"]} hasActions />
            <tbody>
              {data.hosts.map((host) => (
                <HostRow key={`${host.host}:${host.port}`} host={host} {...actions} />
              ))}
            </tbody>
          </table>
        </TableScroll>
      ) : null}
    </Panel>
  );
}

function HostRow({ host, ...actions }: Actions & { host: HostSummary }) {
  const { requests, denials, bytesOut, bytesIn, open, lastAtMs, lastReason, secrets = {} } = host;
  const used = Object.entries(secrets);
  return (
    <tr>
      <td>
        <span className="mono">
          <Visible text={`${host.host}:${host.port}`} />
        </span>
        {open > 0 ? <span className="quiet small"> {open} open</span> : null}
        {used.map(([secret, times]) => (
          <div key={secret} className="quiet small">
            <Visible text={secret} /> used {times} times
          </div>
        ))}
      </td>
      <td className="number" data-label="Requests">
        {requests}
      </td>
      <td className="number" data-label="Denials">
        {denials}
        {denials > 0 ? <div className="quiet small">{reasonText(lastReason)}</div> : null}
      </td>
      <td className="number" data-label="Sent">
        <Bytes n={bytesOut} />
      </td>
      <td className="number" data-label="Received">
        <Bytes n={bytesIn} />
      </td>
      <td data-label="Last">
        <Ago atMs={lastAtMs} />
      </td>
      <td>
        <TargetButtons
          target={{ host: host.host, port: host.port }}
          reason={denials > 0 ? lastReason : undefined}
          {...actions}
        />
      </td>
    </tr>
  );
}

function Denials({ box: { name, incarnation }, ...actions }: Actions & { box: Box }) {
  const { data, error } = useQuery({
    queryKey: ["box", name, "denials"],
    queryFn: () => client.listEgress({ box: name, verdict: "deny", order: "newest", limit: shownDenials }),
    refetchInterval: everyMs,
  });
  // The log is kept by name, and also has what an earlier box of this name was denied.
  const denials = data?.filter((record) => record.incarnation === incarnation) ?? [];
  return (
    <Panel title="Denials">
      {error ? <ErrorNote error={error} /> : null}
      {!data && !error ? <Skeleton height={120} /> : null}
      {data && denials.length === 0 ? <p className="quiet">Nothing was denied.</p> : null}
      {denials.length === 0 ? null : (
        <TableScroll>
          <table className="table box-stacked">
            <TableHead columns={["When", "What", "Why"]} hasActions />
            <tbody>
              {denials.map((record) => (
                <DenialRow key={record.id} record={record} {...actions} />
              ))}
            </tbody>
          </table>
        </TableScroll>
      )}
    </Panel>
  );
}

function DenialRow({ record, ...actions }: Actions & { record: EgressRecord }) {
  const { atMs, host, port, method, path, program, reason } = record;
  return (
    <tr>
      <td>
        <Ago atMs={atMs} />
      </td>
      <td>
        <span className="mono">
          <Visible text={targetText(record)} />
        </span>
        {program === undefined ? null : (
          <div className="quiet small">
            by <Visible text={program} />
          </div>
        )}
      </td>
      <td>{reasonText(reason)}</td>
      <td>
        <TargetButtons target={{ host, port, method, path }} reason={reason} {...actions} />
      </td>
    </tr>
  );
}
