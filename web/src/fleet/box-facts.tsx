/** The parts of a box that cards and rows share. */
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";
import { Count, Left, Money } from "../parts/amount.tsx";
import { formatBytes } from "../parts/format.ts";
import { Sparkline } from "../parts/sparkline.tsx";
import { Visible } from "../parts/visible.tsx";

export interface BoxItemProps {
  readonly box: BoxSummary;
  readonly isSelected: boolean;
  readonly isCurrent: boolean;
  readonly onSelect: (name: string) => void;
  readonly onFocus: (name: string) => void;
}

export const boxLinkId = (name: string): string => `fleet-box-${name}`;

export function BoxLink({ box, onFocus }: Pick<BoxItemProps, "box" | "onFocus">) {
  return (
    <Link
      id={boxLinkId(box.name)}
      className="fleet-name"
      to="/box/$name"
      params={{ name: box.name }}
      preload={false}
      onFocus={() => onFocus(box.name)}
    >
      {box.name}
    </Link>
  );
}

export function BoxPick({
  box,
  isSelected,
  onSelect,
}: Pick<BoxItemProps, "box" | "isSelected" | "onSelect">) {
  return (
    <input
      type="checkbox"
      className="fleet-pick"
      aria-label={`Select ${box.name}`}
      checked={isSelected}
      disabled={box.role === "look"}
      onChange={() => {
        onSelect(box.name);
        // Keys of the page go on working after a click.
        document.getElementById(boxLinkId(box.name))?.focus({ preventScroll: true });
      }}
    />
  );
}

function Repository({ box: { repo, branch } }: { box: BoxSummary }) {
  if (repo === undefined) return <span className="quiet">no repository</span>;
  return (
    <span className="fleet-cut" title={branch === undefined ? repo : `${repo} on ${branch}`}>
      <Visible text={repo} />
      {branch === undefined ? null : (
        <span className="quiet">
          {" on "}
          <Visible text={branch} />
        </span>
      )}
    </span>
  );
}

/** The task, what it needs a person for or did last: not the branch, which repeats the name of the box. */
export function What({ box }: { box: BoxSummary }) {
  const { task, needs, lastAction } = box;
  const [need] = needs;
  const now = need?.sentence ?? lastAction;
  if (task === undefined && now === undefined) return <Repository box={box} />;
  return (
    <span className="fleet-what">
      {task === undefined ? (
        <Repository box={box} />
      ) : (
        <span className="fleet-cut" title={task}>
          <Visible text={task} />
        </span>
      )}
      {now === undefined ? null : (
        <span className={`fleet-cut small ${need === undefined ? "quiet" : "fleet-need-line"}`} title={now}>
          <Visible text={now} />
        </span>
      )}
    </span>
  );
}

export function Changed({ box: { changedFiles: n, addedLines, deletedLines, work } }: { box: BoxSummary }) {
  if (n === undefined) return <span className="quiet">–</span>;
  if (n === 0) return <span className="quiet">{work === "merged" ? "merged" : "none"}</span>;
  return (
    <span title="Not merged">
      <Count n={n} /> unmerged
      {addedLines === undefined || deletedLines === undefined ? null : (
        <span className="small">
          {" "}
          <span className="talk-added">+{addedLines}</span>{" "}
          <span className="talk-deleted">−{deletedLines}</span>
        </span>
      )}
    </span>
  );
}

export function Spent({ box: { tokens, costMicroUsd } }: { box: BoxSummary }) {
  if (tokens === undefined) return <span className="quiet">–</span>;
  return (
    <span className="fleet-spent">
      {costMicroUsd === undefined ? (
        <span title="The price of its model is not known.">$?</span>
      ) : (
        <Money microUsd={costMicroUsd} />
      )}
      <span className="quiet small">
        {" "}
        <Count n={tokens} /> tokens
      </span>
    </span>
  );
}

export const Sparks = memo(function Sparks({ cpu, memory }: Pick<BoxSummary, "cpu" | "memory">) {
  if (cpu === undefined || memory === undefined) return <span className="fleet-sparks" aria-hidden="true" />;
  const lastCpu = `${Math.round(cpu.at(-1) ?? 0)}%`;
  const lastMemory = formatBytes(memory.at(-1) ?? 0);
  return (
    <span className="fleet-sparks">
      <span className="fleet-spark" title={`Processor: ${lastCpu}`}>
        <Sparkline values={cpu} max={100} label={`Processor, now ${lastCpu}`} />
        <span className="small">{lastCpu}</span>
      </span>
      <span className="fleet-spark fleet-spark-memory" title={`Memory: ${lastMemory}`}>
        <Sparkline values={memory} label={`Memory, now ${lastMemory}`} />
        <span className="small">{lastMemory}</span>
      </span>
    </span>
  );
});

export function TimeLeft({ box: { phase, expiresAtMs } }: { box: BoxSummary }) {
  const isLive = phase === "running" || phase === "paused" || phase === "starting";
  if (!isLive || expiresAtMs === undefined) return <span className="quiet">–</span>;
  return <Left untilMs={expiresAtMs} />;
}
