import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Empty, ErrorNote, Skeleton } from "../parts/note.tsx";
import { EventRow } from "./event-row.tsx";
import { type EventKind, eventKinds, rowsOf } from "./event-words.ts";
import { useBox, useBoxName } from "./use-box.ts";
import { useBoxEvents } from "./use-box-events.ts";

const rowHeight = 34;
const none: ReadonlySet<EventKind> = new Set();

export function TimelinePage() {
  const name = useBoxName();
  const { data } = useBox(name);
  if (!data) return <Skeleton height={480} />;
  return <Timeline key={data.box.incarnation} name={name} sinceMs={data.box.createdAtMs} />;
}

function Timeline({ name, sinceMs }: { name: string; sinceMs: number }) {
  const [kinds, setKinds] = useState(none);
  const { events, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useBoxEvents(name, {
    sinceMs,
  });
  // While the reader is further down, new entries wait above and move nothing.
  const [heldAt, setHeldAt] = useState<number>();
  const shown = useMemo(
    () => (heldAt === undefined ? events : events.filter(({ id }) => id <= heldAt)),
    [events, heldAt],
  );
  const rows = useMemo(() => rowsOf(shown, kinds), [shown, kinds]);
  const fresh = events.length - shown.length;

  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.event.id ?? index,
    overscan: 12,
  });
  const items = list.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (lastIndex >= rows.length - 10 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [lastIndex, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);

  const goToTop = () => {
    setHeldAt(undefined);
    scroller.current?.scrollTo({ top: 0 });
  };
  const hold = () => {
    const isTop = (scroller.current?.scrollTop ?? 0) < rowHeight;
    setHeldAt((now) => (isTop ? undefined : (now ?? events[0]?.id)));
  };
  return (
    <div className="parts-stack">
      <KindFilter kinds={kinds} onChange={setKinds} />
      {error ? <ErrorNote error={error} /> : null}
      <p className="quiet small">
        <output>
          {isPending
            ? "Loading …"
            : `${rows.length} ${rows.length === 1 ? "line" : "lines"}${hasNextPage ? ", more below" : ""}`}
          {fresh > 0 ? (
            <Button kind="quiet" onClick={goToTop}>
              {fresh} new above
            </Button>
          ) : null}
        </output>
      </p>
      <section
        ref={scroller}
        className="box-timeline"
        aria-label={`Timeline of ${name}`}
        tabIndex={0}
        onScroll={hold}
      >
        {rows.length === 0 && !isPending && !hasNextPage ? (
          <Empty title="Nothing of this kind has happened" />
        ) : null}
        <ul className="box-timeline-rows" style={{ height: list.getTotalSize() }}>
          {items.map(({ key, index, start }) => (
            <li
              key={key}
              ref={list.measureElement}
              data-index={index}
              className="box-timeline-row"
              aria-posinset={index + 1}
              aria-setsize={hasNextPage ? -1 : rows.length}
              style={{ transform: `translateY(${start}px)` }}
            >
              <EventRow row={rows[index]!} />
            </li>
          ))}
        </ul>
        {hasNextPage ? (
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Load older
          </Button>
        ) : null}
      </section>
    </div>
  );
}

function KindFilter({
  kinds,
  onChange,
}: {
  kinds: ReadonlySet<EventKind>;
  onChange: (kinds: ReadonlySet<EventKind>) => void;
}) {
  const toggle = (kind: EventKind) => {
    const next = new Set(kinds);
    if (!next.delete(kind)) next.add(kind);
    onChange(next);
  };
  return (
    <fieldset className="box-kinds" aria-label="Show only">
      <Button aria-pressed={kinds.size === 0} onClick={() => onChange(none)}>
        everything
      </Button>
      {eventKinds.map((kind) => (
        <Button key={kind} aria-pressed={kinds.has(kind)} onClick={() => toggle(kind)}>
          {kind}
        </Button>
      ))}
    </fieldset>
  );
}
