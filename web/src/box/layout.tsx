/** The frame of a box: what it is, what can be done with it, and its tabs. */
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Box } from "../../../src/contract/box.ts";
import { isAgentBoxError } from "../../../src/base/errors.ts";
import { Left } from "../parts/amount.tsx";
import { Badge, StateBadge } from "../parts/badge.tsx";
import { Empty, ErrorNote, PageHeader, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { BoxActions } from "./box-actions.tsx";
import { tierText } from "./spec-facts.ts";
import { stateFacts, useBox, useBoxName, useSummary } from "./use-box.ts";

const tabs = [
  ["/box/$name", "Conversation"],
  ["/box/$name/overview", "Overview"],
  ["/box/$name/terminal", "Terminal"],
  ["/box/$name/timeline", "Timeline"],
  ["/box/$name/network", "Network"],
  ["/box/$name/files", "Files"],
  ["/box/$name/services", "Services"],
  ["/box/$name/resources", "Resources"],
  ["/box/$name/review", "Review"],
  ["/box/$name/settings", "Settings"],
] as const;

/** A box that runs commands has no conversation; its overview is its first page. */
const commandTabs = [["/box/$name", "Overview"], ...tabs.slice(2)] as const;

export function BoxLayout() {
  const name = useBoxName();
  const { data, error } = useBox(name);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const pages = useRef<HTMLElement>(null);
  const hasTabs = data !== undefined;
  useEffect(() => {
    const current = pages.current?.querySelector('[aria-current="page"]');
    current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [path, hasTabs]);
  useEffect(() => {
    document.title = `${name} · AgentBox`;
    return () => void (document.title = "AgentBox");
  }, [name]);
  if (error && isAgentBoxError(error, "box.not_found"))
    return (
      <Empty title={`There is no box ${name}`}>
        <p>
          It was removed, or its name is mistyped. <Link to="/">See all boxes</Link>
        </p>
      </Empty>
    );
  return (
    <div className="box">
      <PageHeader title={name} actions={data ? <BoxActions box={data.box} /> : null}>
        <div className="box-facts">{data ? <HeadFacts box={data.box} /> : <Skeleton height={24} />}</div>
      </PageHeader>
      <nav ref={pages} className="parts-tabs" aria-label={`Pages of ${name}`}>
        {(data?.box.run === undefined && data !== undefined ? commandTabs : tabs).map(([to, label]) => (
          <Link
            key={to}
            to={to}
            params={{ name }}
            className="parts-tab"
            activeOptions={{ exact: true }}
            activeProps={{ "aria-current": "page" }}
          >
            {label}
          </Link>
        ))}
      </nav>
      {error && !data ? <ErrorNote error={error} /> : null}
      <div className="box-body">
        <Outlet />
      </div>
    </div>
  );
}

function HeadFacts({ box }: { box: Box }) {
  const summary = useSummary(box.name);
  const { spec, state, isolation, expiresAtMs } = box;
  const project = summary?.repo ?? box.projectDir?.split("/").at(-1);
  return (
    <>
      <output>
        <StateBadge box={stateFacts(box)} />
      </output>
      <span>
        <Visible text={[spec.agent.name, spec.agent.version].filter(Boolean).join(" ")} />
      </span>
      {project === undefined ? null : (
        <span className="mono">
          <Visible text={project} />
          {summary?.branch === undefined ? null : (
            <>
              {" @ "}
              <Visible text={summary.branch} />
            </>
          )}
        </span>
      )}
      {expiresAtMs === undefined || state.phase === "stopped" ? null : (
        <span className="quiet">
          <Left untilMs={expiresAtMs} />
        </span>
      )}
      <Badge>{tierText(isolation.tier)}</Badge>
    </>
  );
}
