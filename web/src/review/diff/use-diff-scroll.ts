/**
 * The rows of a diff as part of the page: the page itself scrolls, and only rows in sight are drawn. Whatever comes in
 * above them, what a person reads stays where it is.
 */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Row } from "./rows.ts";

const heights = {
  file: 44,
  wait: 44,
  note: 28,
  error: 80,
  hunk: 28,
  line: 20,
  pair: 20,
  danger: 56,
  comment: 90,
  form: 190,
} as const satisfies Record<Row["type"], number>;

/** A row, and how far from the top of the window it begins. */
interface Anchor {
  readonly key: string;
  readonly top: number;
}

type Align = "start" | "center" | "auto";

/** How much of the window the bars above the diff cover while they stick. */
const covered = (): number =>
  [".app-bar", ".review-sticky"].reduce(
    (sum, bar) => sum + (document.querySelector(bar)?.getBoundingClientRect().height ?? 0),
    8,
  );

/** Where the list begins in the page; what is above it comes and goes. */
function usePageTop(list: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      const now = list.current?.getBoundingClientRect().top;
      if (now !== undefined) setTop(Math.round(now + window.scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [list]);
  return top;
}

export function useDiffScroll(rows: readonly Row[], list: RefObject<HTMLElement | null>) {
  // The same functions while the rows are the same: another one makes the virtualizer measure all of them again.
  const estimateSize = useCallback((index: number) => heights[rows[index]!.type], [rows]);
  const getItemKey = useCallback((index: number) => rows[index]!.key, [rows]);
  const pageTop = usePageTop(list);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize,
    getItemKey,
    overscan: 12,
    scrollMargin: pageTop,
    scrollPaddingStart: covered(),
  });
  const items = virtualizer.getVirtualItems();
  const anchor = useRef<Anchor>(undefined);
  /** The row that was gone to; it is what stays until the person scrolls. */
  const held = useRef<{ readonly key: string; readonly align: Align }>(undefined);

  useLayoutEffect(() => {
    const indexOf = (wanted: string | undefined) =>
      wanted === undefined ? -1 : rows.findIndex(({ key }) => key === wanted);
    // Indexes of the rows before mean other rows now.
    virtualizer.cancelScroll();
    const goal = indexOf(held.current?.key);
    if (held.current !== undefined && goal !== -1 && held.current.align !== "auto")
      return virtualizer.scrollToIndex(goal, { align: held.current.align });
    const kept = anchor.current;
    const start = virtualizer.measurementsCache[indexOf(kept?.key)]?.start;
    if (kept === undefined || start === undefined) return;
    const wanted = start - kept.top;
    if (Math.abs(wanted - window.scrollY) > 1) window.scrollTo({ top: wanted });
  }, [rows]);

  useEffect(() => {
    const top = window.scrollY;
    const seen = items.filter(({ end, start }) => end > top + covered() && start < top + window.innerHeight);
    const item = seen.find(({ index }) => rows[index]?.key === held.current?.key) ?? seen[0];
    const key = item === undefined ? undefined : rows[item.index]?.key;
    anchor.current = item === undefined || key === undefined ? undefined : { key, top: item.start - top };
  });

  useEffect(() => {
    const release = () => {
      held.current = undefined;
    };
    const events = ["wheel", "touchmove", "pointerdown"] as const;
    for (const event of events) addEventListener(event, release, { passive: true });
    return () => {
      for (const event of events) removeEventListener(event, release);
    };
  }, []);

  return {
    virtualizer,
    items,
    pageTop,
    isHeld: () => held.current !== undefined,
    release: () => {
      held.current = undefined;
    },
    /** Brings a row into sight and keeps it there while other rows come in. */
    show: (index: number, align: Align) => {
      const key = rows[index]?.key;
      held.current = key === undefined ? undefined : { key, align };
      virtualizer.scrollToIndex(index, { align });
    },
  };
}
