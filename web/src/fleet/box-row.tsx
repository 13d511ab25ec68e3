/* oxlint-disable jsx-a11y/prefer-tag-over-role -- the list places its rows one by one; a table whose rows are placed loses its roles in some browsers */
import { memo } from "react";
import { StateBadge } from "../parts/badge.tsx";
import { type BoxItemProps, BoxLink, BoxPick, Changed, Sparks, Spent, TimeLeft, What } from "./box-facts.tsx";

export const RowHead = () => (
  <div className="fleet-row fleet-row-head" role="row">
    <span role="columnheader">
      <span className="visually-hidden">Selected</span>
    </span>
    {["Box", "State", "Agent", "Task", "Files", "Cost", "Processor and memory", "Time"].map((title) => (
      <span key={title} role="columnheader">
        {title}
      </span>
    ))}
  </div>
);

export const BoxRow = memo(function BoxRow({ box, isSelected, isCurrent, onSelect, onFocus }: BoxItemProps) {
  const marks = `${isSelected ? "fleet-selected" : ""} ${isCurrent ? "fleet-current" : ""}`;
  return (
    <div className={`fleet-row ${marks}`} role="row" data-box={box.name}>
      <span role="cell" className="fleet-cell-pick">
        <BoxPick box={box} isSelected={isSelected} onSelect={onSelect} />
      </span>
      <span role="cell" className="fleet-cell-name fleet-cut">
        <BoxLink box={box} onFocus={onFocus} />
      </span>
      <span role="cell" className="fleet-cell-state">
        <StateBadge box={box} />
      </span>
      <span role="cell" className="fleet-cell-agent fleet-cut">
        {box.agent}
      </span>
      <span role="cell" className="fleet-cell-repo fleet-cut">
        <What box={box} />
      </span>
      <span role="cell" className="fleet-cell-files">
        <Changed box={box} />
      </span>
      <span role="cell" className="fleet-cell-cost">
        <Spent box={box} />
      </span>
      <span role="cell" className="fleet-cell-sparks">
        <Sparks cpu={box.cpu} memory={box.memory} />
      </span>
      <span role="cell" className="fleet-cell-time small">
        <TimeLeft box={box} />
      </span>
    </div>
  );
});
