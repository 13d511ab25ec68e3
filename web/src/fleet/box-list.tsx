/**
 * The boxes as lines of fixed height, of which only those on the screen exist: 500 boxes cost what 30 cost. The page
 * itself scrolls, as phones expect.
 */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";
import { Icon } from "../parts/icon.tsx";
import { type Group, type Line, linesOf, pathKey } from "./arrange.ts";
import { BoxCard } from "./box-card.tsx";
import { boxLinkId } from "./box-facts.tsx";
import { BoxRow, RowHead } from "./box-row.tsx";
import type { View } from "./use-choices.ts";
import { useWidth } from "../parts/use-width.ts";

interface BoxListProps {
  readonly groups: readonly Group[];
  readonly view: View;
  readonly selected: ReadonlySet<string>;
  readonly current: string | undefined;
  /** Counts up when the keyboard has moved, so that the box is brought into view and gets the focus. */
  readonly moves: number;
  readonly onSelect: (name: string) => void;
  readonly onFocus: (name: string) => void;
}

const heights = { heading: 44, card: 226, row: 48, narrowRow: 76 } as const;
const cardWidth = 330;
/** On a page this narrow a row of the table has two lines; fleet.css has the same number. */
const narrow = "(max-width: 820px)";
/** The bar of the page and the head of the table cover this much at the top. */
const covered = 100;

const keyOf = (line: Line): string =>
  line.kind === "heading" ? `group ${pathKey(line.group)}` : (line.boxes[0]?.name ?? "");

export function BoxList({ groups, view, selected, current, moves, onSelect, onFocus }: BoxListProps) {
  const [width, setElement] = useWidth();
  const list = useRef<HTMLDivElement>(null);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const columns = view === "cards" ? Math.max(1, Math.floor(width / cardWidth)) : 1;
  const lines = useMemo(() => linesOf(groups, columns, closed), [groups, columns, closed]);
  const rowHeight = window.matchMedia(narrow).matches ? heights.narrowRow : heights.row;
  const boxHeight = view === "cards" ? heights.card : rowHeight;
  const [margin, setMargin] = useState(0);
  // The part above changes its height when boxes begin or cease to need a person.
  useLayoutEffect(() => {
    const top = list.current ? list.current.getBoundingClientRect().top + window.scrollY : 0;
    if (Math.abs(top - margin) > 1) setMargin(top);
  });
  const virtualizer = useWindowVirtualizer({
    count: width === 0 ? 0 : lines.length,
    estimateSize: (index) => (lines[index]?.kind === "heading" ? heights.heading : boxHeight),
    getItemKey: (index) => keyOf(lines[index]!),
    overscan: 4,
    scrollMargin: margin,
    scrollPaddingStart: covered,
    scrollPaddingEnd: covered,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, boxHeight, lines]);

  useEffect(() => {
    if (moves === 0 || current === undefined) return undefined;
    const line = lines.findIndex(
      (one) => one.kind === "boxes" && one.boxes.some(({ name }) => name === current),
    );
    if (line >= 0) virtualizer.scrollToIndex(line, { align: "auto" });
    // It exists once the list has rendered what is now in view.
    const frame = requestAnimationFrame(() =>
      document.getElementById(boxLinkId(current))?.focus({ preventScroll: true }),
    );
    return () => cancelAnimationFrame(frame);
    // Only a move of the keyboard brings something into view; a change of the list must not.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [moves]);

  const toggle = (group: Group) =>
    setClosed((now) => {
      const next = new Set(now);
      if (!next.delete(pathKey(group))) next.add(pathKey(group));
      return next;
    });
  const boxes = lines.reduce((sum, line) => sum + (line.kind === "boxes" ? line.boxes.length : 0), 0);
  const isTable = view === "table";
  return (
    <div
      ref={setElement}
      className={`fleet-list fleet-list-${view}`}
      {...(isTable ? { role: "table", "aria-label": "Boxes", "aria-rowcount": boxes + 1 } : {})}
    >
      {isTable ? <RowHead /> : null}
      <div
        ref={list}
        className="fleet-lines"
        style={{ height: virtualizer.getTotalSize() }}
        {...(isTable ? { role: "rowgroup" } : {})}
      >
        {virtualizer.getVirtualItems().map((item) => {
          const line = lines[item.index];
          if (!line) return null;
          return (
            <div
              key={item.key}
              className="fleet-line"
              style={{ height: item.size, transform: `translateY(${item.start - margin}px)` }}
              {...(isTable ? { role: "presentation" } : {})}
            >
              {line.kind === "heading" ? (
                <Heading line={line} isTable={isTable} onToggle={toggle} />
              ) : (
                <Boxes {...{ boxes: line.boxes, view, columns, selected, current, onSelect, onFocus }} />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface BoxesProps extends Pick<BoxListProps, "view" | "selected" | "current" | "onSelect" | "onFocus"> {
  readonly boxes: readonly BoxSummary[];
  readonly columns: number;
}

function Boxes({ boxes, view, columns, selected, current, onSelect, onFocus }: BoxesProps) {
  const propsOf = (box: BoxSummary) => ({
    box,
    isSelected: selected.has(box.name),
    isCurrent: current === box.name,
    onSelect,
    onFocus,
  });
  if (view === "table") return boxes.map((box) => <BoxRow key={box.name} {...propsOf(box)} />);
  return (
    <div className="fleet-cards" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
      {boxes.map((box) => (
        <BoxCard key={box.name} {...propsOf(box)} />
      ))}
    </div>
  );
}

function Heading({
  line: { group, isClosed },
  isTable,
  onToggle,
}: {
  line: Extract<Line, { kind: "heading" }>;
  isTable: boolean;
  onToggle: (group: Group) => void;
}) {
  const button = (
    <button type="button" className="fleet-heading" aria-expanded={!isClosed} onClick={() => onToggle(group)}>
      <Icon name="chevron" />
      <span className="fleet-cut">{group.path.length === 0 ? "Others" : group.path.join(" › ")}</span>
      <span className="quiet small">{group.boxes.length}</span>
    </button>
  );
  if (!isTable) return <h2 className="fleet-group-heading">{button}</h2>;
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a row of the table of box-row.tsx
    <div role="row">
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- likewise */}
      <span role="cell">{button}</span>
    </div>
  );
}
