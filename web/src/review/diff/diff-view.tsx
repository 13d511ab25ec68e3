import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useEffect, useRef } from "react";
import type { Change } from "../../../../src/contract/review/change.ts";
import type { ReviewComment } from "../../../../src/contract/review/comment.ts";
import type { NewComment } from "../comments/comments.tsx";
import { DiffRow } from "./diff-rows.tsx";
import { type Row, newLineOf } from "./rows.ts";

/** The actions of a row. It stays the same object while a person scrolls, so that rows are not drawn again. */
export interface DiffActions {
  readonly canComment: boolean;
  readonly load: (change: Change, context?: number) => void;
  readonly contextOf: (change: Change) => number;
  readonly fold: (change: Change, isFolded: boolean) => void;
  readonly setViewed: (change: Change, isViewed: boolean) => void;
  readonly openForm: (place: { path: string; line?: number } | undefined) => void;
  readonly addComment: (comment: NewComment) => void;
  readonly resolve: (comment: ReviewComment) => void;
}

/** Somewhere to go to; a new object each time, so that going there twice works. */
export interface Target {
  readonly path: string;
  readonly line?: number | undefined;
}

interface DiffViewProps {
  rows: readonly Row[];
  actions: DiffActions;
  folded: ReadonlySet<string>;
  isViewed: (change: Change) => boolean;
  target: Target | undefined;
  onArrive: () => void;
  cursor: string | undefined;
  onFileInSight: (path: string) => void;
  /** The filter of the files; another filter is read from its beginning. */
  filter: string;
  /** To the next line or the one before. */
  onStep: (step: 1 | -1) => void;
}

const heights = {
  file: 44,
  wait: 44,
  note: 28,
  error: 80,
  hunk: 28,
  line: 20,
  pair: 20,
  comment: 90,
  form: 190,
} as const satisfies Record<Row["type"], number>;

export function DiffView(props: DiffViewProps) {
  const { rows, actions, folded, isViewed, target, onArrive, cursor, onFileInSight, onStep, filter } = props;
  const scroller = useRef<HTMLDivElement>(null);
  /** True while a person scrolls. Otherwise the view goes to the file that it was given. */
  const isByHand = useRef(false);
  // The same functions while the rows are the same: another one makes the virtualizer measure all of them again.
  const estimateSize = useCallback((index: number) => heights[rows[index]!.type], [rows]);
  const getItemKey = useCallback((index: number) => rows[index]!.key, [rows]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize,
    getItemKey,
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const { isScrolling } = virtualizer;

  // Patches come when their place has been in sight for a moment, not for each file that flies by.
  useEffect(() => {
    if (isScrolling) return;
    for (const { index } of items) {
      const row = rows[index];
      if (row?.type === "wait" && !row.isLarge && !row.isLoading) actions.load(row.change);
    }
  }, [items, rows, isScrolling, actions]);

  const top = virtualizer.scrollOffset ?? 0;
  const first = items.find(({ end }) => end > top + heights.file);
  const visibility = first === undefined ? undefined : rows[first.index]?.change.path;
  useEffect(() => {
    if (visibility !== undefined && isByHand.current) onFileInSight(visibility);
  }, [visibility, onFileInSight]);

  useEffect(() => virtualizer.scrollToOffset(0), [filter, virtualizer]);

  useEffect(() => {
    if (target === undefined) return;
    isByHand.current = false;
    const place = placeOf(rows, target);
    if (place === undefined) return onArrive();
    if (place.needs !== undefined) actions.load(place.needs);
    virtualizer.scrollToIndex(place.index, { align: place.isLine ? "center" : "start" });
    if (place.needs !== undefined) return;
    scroller.current?.focus({ preventScroll: true });
    onArrive();
  }, [target, rows, actions, onArrive, virtualizer]);

  useEffect(() => {
    const index = cursor === undefined ? -1 : rows.findIndex(({ key }) => key === cursor);
    if (index >= 0) virtualizer.scrollToIndex(index, { align: "auto" });
    // Only when the cursor moves; rows that come in between leave the view where it is.
  }, [cursor]);

  const byHand = () => {
    isByHand.current = true;
  };
  const press = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== scroller.current) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      onStep(event.key === "ArrowDown" ? 1 : -1);
    } else if (/^(Page|Home|End| )/.test(event.key)) byHand();
  };

  return (
    <div
      ref={scroller}
      className="review-diff"
      style={{ height: virtualizer.getTotalSize() + 2 }}
      role="region"
      aria-label="Changes"
      tabIndex={0}
      onKeyDown={press}
      onWheel={byHand}
      onTouchMove={byHand}
      onPointerDown={byHand}
    >
      <div className="review-diff-rows" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const row = rows[index]!;
          return (
            <div
              key={key}
              data-index={index}
              ref={virtualizer.measureElement}
              className="review-row"
              style={{ transform: `translateY(${start}px)` }}
            >
              <DiffRow
                row={row}
                actions={actions}
                isFolded={row.type === "file" && folded.has(row.change.path)}
                isViewed={row.type === "file" && isViewed(row.change)}
                isAtCursor={row.key === cursor}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The row to go to, or the file whose lines must come first. */
function placeOf(
  rows: readonly Row[],
  { path, line }: Target,
): { index: number; isLine: boolean; needs?: Change } | undefined {
  const head = rows.findIndex((row) => row.type === "file" && row.change.path === path);
  if (head === -1) return undefined;
  if (line === undefined) return { index: head, isLine: false };
  let nearest = head;
  for (let index = head + 1; index < rows.length && rows[index]!.change.path === path; index += 1) {
    const row = rows[index]!;
    if (row.type === "wait") return { index: head, isLine: false, needs: row.change };
    const at = newLineOf(row);
    if (at === undefined) continue;
    if (at <= line || nearest === head) nearest = index;
    if (at >= line) break;
  }
  return { index: nearest, isLine: nearest !== head };
}
