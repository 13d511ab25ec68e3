import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useMe } from "../api/me.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { SearchInput } from "../parts/field.tsx";
import { type Row, findRows, rowsOf } from "./rows.ts";
import { RowView } from "./row-view.tsx";
import type { ShownConversation } from "./use-conversation.ts";

/** The height of a row before it has been drawn, in pixels. */
const expectedHeight: Readonly<Record<Row["kind"], number>> = {
  asked: 90,
  said: 96,
  thinking: 34,
  tool: 34,
  files: 30,
  checkpoint: 36,
  ended: 36,
  notice: 36,
};
const nearEnd = 60;

interface ListProps {
  readonly box: string;
  readonly agent: string;
  readonly conversation: ShownConversation;
  /** The turn that an address names. */
  readonly turn: number | undefined;
}

export function ConversationList({ box, agent, conversation, turn }: ListProps) {
  const me = useMe()?.name;
  const { entries, lost, isWhole } = conversation;
  const rows = useMemo(() => rowsOf(entries), [entries]);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [wanted, setWanted] = useState("");
  const found = useMemo(() => findRows(rows, wanted), [rows, wanted]);
  const [position, setPosition] = useState(0);
  // New rows below move nothing while the user reads further up.
  const [isAtEnd, setAtEnd] = useState(turn === undefined);
  const isAtEndNow = useRef(isAtEnd);
  isAtEndNow.current = isAtEnd;

  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => expectedHeight[rows[index]?.kind ?? "tool"],
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
  });

  const total = list.getTotalSize();
  useLayoutEffect(() => {
    if (isAtEndNow.current && rows.length > 0) list.scrollToIndex(rows.length - 1, { align: "end" });
  }, [list, rows.length, total]);

  // Older rows that come in above push down what is being read; it stays where it is.
  const first = useRef<{ key: number | undefined; total: number }>({ key: undefined, total: 0 });
  useLayoutEffect(() => {
    const before = first.current;
    const key = rows[0]?.key;
    if (before.key !== undefined && before.key !== key && !isAtEndNow.current && scroller.current)
      scroller.current.scrollTop += total - before.total;
    first.current = { key, total };
  }, [rows, total]);

  const isAtTurn = useRef(false);
  useEffect(() => {
    if (turn === undefined || isAtTurn.current) return;
    const index = rows.findIndex((row) => row.turn === turn);
    if (index < 0 || (!isWhole && index === 0)) return;
    isAtTurn.current = true;
    list.scrollToIndex(index, { align: "start" });
  }, [turn, rows, isWhole, list]);

  const goTo = (next: number) => {
    if (found.length === 0) return;
    const at = (next + found.length) % found.length;
    setPosition(at);
    setAtEnd(false);
    list.scrollToIndex(found[at]!, { align: "center" });
  };
  const search = (text: string) => {
    setWanted(text);
    setPosition(0);
    const hits = findRows(rows, text);
    if (hits.length === 0) return;
    setAtEnd(false);
    list.scrollToIndex(hits[0]!, { align: "center" });
  };
  const toggle = (key: number) =>
    setOpened((now) => {
      const next = new Set(now);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  const current = found[position];
  const hits = useMemo(() => new Set(found), [found]);

  return (
    <>
      <div className="talk-bar">
        <SearchInput
          label="Search the conversation"
          placeholder="Search"
          value={wanted}
          onChange={({ target }) => search(target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") goTo(position + (event.shiftKey ? -1 : 1));
          }}
        />
        <output className="quiet small">
          {wanted.trim() === ""
            ? `${rows.length} ${rows.length === 1 ? "entry" : "entries"}${isWhole ? "" : ", loading more"}`
            : found.length === 0
              ? "Nothing found"
              : `${position + 1} of ${found.length}`}
        </output>
        {found.length > 0 ? (
          <IconButton icon="chevron" label="Next match" onClick={() => goTo(position + 1)} />
        ) : null}
        {isAtEnd ? null : (
          <Button
            kind="quiet"
            onClick={() => {
              setAtEnd(true);
              list.scrollToIndex(rows.length - 1, { align: "end" });
            }}
          >
            Go to the newest
          </Button>
        )}
      </div>
      <section
        ref={scroller}
        className="talk-scroller"
        aria-label={`Conversation of ${box}`}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setAtEnd(scrollHeight - scrollTop - clientHeight < nearEnd)
        }
      >
        {lost > 0 && isWhole ? (
          <p className="quiet small">The first {lost} entries are no longer kept.</p>
        ) : null}
        <ul className="talk-rows" style={{ height: total }}>
          {list.getVirtualItems().map(({ key, index, start }) => {
            const row = rows[index]!;
            return (
              <li
                key={key}
                ref={list.measureElement}
                data-index={index}
                className={`talk-row ${hits.has(index) ? "talk-hit" : ""} ${index === current ? "talk-current" : ""}`}
                aria-posinset={index + 1}
                aria-setsize={rows.length}
                style={{ transform: `translateY(${start}px)` }}
              >
                <RowView
                  row={row}
                  box={box}
                  agent={agent}
                  me={me}
                  isOpen={opened.has(row.key)}
                  onToggle={() => toggle(row.key)}
                />
              </li>
            );
          })}
        </ul>
      </section>
    </>
  );
}
