import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";
import { client } from "../api/client.ts";
import { For } from "../parts/amount.tsx";
import { StateBadge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useAction } from "../parts/use-action.ts";
import { type BoxItemProps, BoxLink, BoxPick, Changed, Sparks, Spent, TimeLeft, What } from "./box-facts.tsx";

/** The next actions of a resting box, in the place where a running one shows its use. */
function Steps({ box }: { box: BoxSummary }) {
  const start = useAction(() => client.startBox(box.name), { invalidates: [["boxes"]] });
  const canStart = (box.phase === "stopped" || box.phase === "failed") && box.role !== "look";
  const { changedFiles = 0 } = box;
  const files = `${changedFiles} ${changedFiles === 1 ? "file" : "files"}`;
  return (
    <div className="fleet-steps">
      {canStart ? (
        <Button isBusy={start.isBusy} onClick={() => start.run()} aria-label={`Start ${box.name}`}>
          <Icon name="play" />
          Start
        </Button>
      ) : null}
      {changedFiles > 0 ? (
        <Link
          className="parts-button"
          to="/box/$name/review"
          params={{ name: box.name }}
          aria-label={`${files} changed in ${box.name}: review`}
        >
          <Icon name="review" />
          {files}
        </Link>
      ) : null}
    </div>
  );
}

export const BoxCard = memo(function BoxCard({
  box,
  isSelected,
  isCurrent,
  onSelect,
  onFocus,
}: BoxItemProps) {
  const marks = `${isSelected ? "fleet-selected" : ""} ${isCurrent ? "fleet-current" : ""}`;
  return (
    <article className={`fleet-card ${marks}`} data-box={box.name}>
      <div className="fleet-card-head">
        <BoxPick box={box} isSelected={isSelected} onSelect={onSelect} />
        <BoxLink box={box} onFocus={onFocus} />
        <StateBadge box={box} />
      </div>
      <div className="fleet-card-repo">
        <What box={box} />
      </div>
      <dl className="fleet-facts">
        <div>
          <dt>Agent</dt>
          <dd className="fleet-cut">{box.agent}</dd>
        </div>
        <div>
          <dt>Files</dt>
          <dd>
            <Changed box={box} />
          </dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>
            <Spent box={box} />
          </dd>
        </div>
      </dl>
      {box.cpu === undefined ? <Steps box={box} /> : <Sparks cpu={box.cpu} memory={box.memory} />}
      <div className="fleet-card-foot small quiet">
        <span>
          <For sinceMs={box.sinceMs} />
        </span>
        {box.person === undefined ? null : <span className="fleet-cut">{box.person}</span>}
        <TimeLeft box={box} />
      </div>
    </article>
  );
});
