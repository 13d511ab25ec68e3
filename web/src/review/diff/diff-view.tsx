import { type KeyboardEvent, useEffect, useRef } from "react";
import type { Change } from "../../../../src/contract/review/change.ts";
import type { DangerKind } from "../../../../src/contract/review/danger.ts";
import type { CommentActions, CommentRange, NewComment, Unsaved } from "../comments/comments.tsx";
import { DiffRow } from "./diff-rows.tsx";
import { type Row, newLineOf } from "./rows.ts";
import { useDiffScroll } from "./use-diff-scroll.ts";

/** The actions of a row. It stays the same object while a person scrolls, so that rows are not drawn again. */
export interface DiffActions extends CommentActions {
  readonly canAccept: boolean;
  readonly load: (change: Change, context?: number) => void;
  readonly contextOf: (change: Change) => number;
  readonly fold: (change: Change, isFolded: boolean) => void;
  readonly setViewed: (change: Change, isViewed: boolean) => void;
  readonly openForm: (range: CommentRange | undefined) => void;
  readonly addComment: (comment: NewComment) => void;
  readonly unsaved: (range: CommentRange) => Unsaved;
  /** A press on the number of a line, and the way of the pointer over others until it is released. */
  readonly beginLines: (path: string, line: number) => void;
  readonly extendLines: (path: string, line: number) => void;
  readonly accept: (kind: DangerKind, isAccepted: boolean) => void;
}

/** Somewhere to go to; a new object each time, so that going there twice works. */
export interface Target {
  readonly path: string;
  readonly line?: number | undefined;
  /** A row that is not a line, such as that of a danger. */
  readonly key?: string | undefined;
}

interface DiffViewProps {
  rows: readonly Row[];
  actions: DiffActions;
  folded: ReadonlySet<string>;
  isViewed: (change: Change) => boolean;
  accepted: ReadonlySet<DangerKind>;
  target: Target | undefined;
  onArrive: () => void;
  cursor: string | undefined;
  /** Lines that are being chosen, or commented on. */
  chosen: CommentRange | undefined;
  onFileInSight: (path: string) => void;
  /** The filter of the files; another filter is read from its beginning. */
  filter: string;
  /** To the next line or the one before. */
  onStep: (step: 1 | -1, isExtending: boolean) => void;
}

export function DiffView(props: DiffViewProps) {
  const { rows, actions, folded, isViewed, accepted, target, onArrive } = props;
  const { cursor, chosen, onFileInSight, onStep, filter } = props;
  const list = useRef<HTMLDivElement>(null);
  const { virtualizer, items, pageTop, isHeld, release, show } = useDiffScroll(rows, list);
  const { isScrolling } = virtualizer;

  // Patches come when their place has been in sight for a moment, not for each file that flies by.
  useEffect(() => {
    if (isScrolling) return;
    for (const { index } of items) {
      const row = rows[index];
      if (row?.type === "wait" && !row.isLarge && !row.isLoading) actions.load(row.change);
    }
  }, [items, rows, isScrolling, actions]);

  const top = (virtualizer.scrollOffset ?? 0) + (virtualizer.options.scrollPaddingStart ?? 0);
  const first = items.find(({ end }) => end > top);
  const visibility = first === undefined ? undefined : rows[first.index]?.change.path;
  useEffect(() => {
    if (visibility !== undefined && !isHeld()) onFileInSight(visibility);
  }, [visibility, onFileInSight]);

  const isFirst = useRef(true);
  useEffect(() => {
    // Another selection is read from its beginning, where the page has been scrolled beyond it.
    if (!isFirst.current && window.scrollY > pageTop) virtualizer.scrollToIndex(0, { align: "start" });
    isFirst.current = false;
  }, [filter]);

  useEffect(() => {
    if (target === undefined) return;
    const row = findRow(rows, target);
    if (row === undefined) return onArrive();
    if (row.needs !== undefined) actions.load(row.needs);
    show(row.index, row.isLine ? "center" : "start");
    if (row.needs !== undefined) return;
    list.current?.focus({ preventScroll: true });
    onArrive();
  }, [target, rows]);

  useEffect(() => {
    const index = cursor === undefined ? -1 : rows.findIndex(({ key }) => key === cursor);
    if (index >= 0 && target === undefined) show(index, "auto");
    // Only when the cursor moves; rows that come in between leave the view where it is.
  }, [cursor]);

  const press = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== list.current) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      onStep(event.key === "ArrowDown" ? 1 : -1, event.shiftKey);
    } else if (/^(Page|Home|End| )/.test(event.key)) release();
  };

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it scrolls, and the arrow keys choose lines in it
    <section
      ref={list}
      className="review-diff"
      aria-label="Changes"
      tabIndex={0}
      onKeyDown={press}
      style={{ height: virtualizer.getTotalSize() + 2 }}
    >
      {items.map(({ index, key, start }) => {
        const row = rows[index]!;
        return (
          <div
            key={key}
            data-index={index}
            ref={virtualizer.measureElement}
            className="review-row"
            style={{ transform: `translateY(${start - pageTop}px)` }}
          >
            <DiffRow
              row={row}
              actions={actions}
              isFolded={row.type === "file" && folded.has(row.change.path)}
              isViewed={row.type === "file" && isViewed(row.change)}
              isAtCursor={row.key === cursor}
              isChosen={isWithin(row, chosen)}
              isAccepted={row.type === "danger" && accepted.has(row.danger.kind)}
            />
          </div>
        );
      })}
    </section>
  );
}

function isWithin(row: Row, range: CommentRange | undefined): boolean {
  const line = newLineOf(row);
  if (range?.line === undefined || line === undefined || row.change.path !== range.path) return false;
  return line >= range.line && line <= (range.endLine ?? range.line);
}

/** The row to go to, or the file whose lines must come first. */
function findRow(
  rows: readonly Row[],
  { path, line, key }: Target,
): { index: number; isLine: boolean; needs?: Change } | undefined {
  const head = rows.findIndex((row) => row.type === "file" && row.change.path === path);
  if (head === -1) return undefined;
  if (line === undefined && key === undefined) return { index: head, isLine: false };
  let nearest = head;
  for (let index = head + 1; index < rows.length && rows[index]!.change.path === path; index += 1) {
    const row = rows[index]!;
    // Without its lines a file has nothing to stand under, and all of it is at the top.
    if (row.type === "wait" && line !== undefined) return { index: head, isLine: false, needs: row.change };
    if (row.key === key) nearest = index;
    if (key !== undefined || line === undefined) continue;
    const at = newLineOf(row);
    if (at === undefined) continue;
    if (at <= line || nearest === head) nearest = index;
    if (at >= line) break;
  }
  return { index: nearest, isLine: nearest !== head };
}
