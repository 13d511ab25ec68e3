/**
 * The conversation of a box: its newest part at once, the rest behind it, and on with what comes. The event stream says
 * that there may be more; the entries are asked for after the last one that is here, so none is missed or shown twice.
 */
import { useEffect, useRef, useState } from "react";
import type { AgentTells, ConversationEntry } from "../../../src/contract/conversation.ts";
import { client } from "../api/client.ts";
import { newestTalkQuery, queries } from "../api/queries.ts";
import { useConnection, useLiveEvents } from "../api/live.ts";

const wholePage = 10_000;
const gatherMs = 100;

export interface ShownConversation {
  readonly entries: readonly ConversationEntry[];
  readonly tells: AgentTells;
  /** Older entries than the first that is kept are gone. */
  readonly lost: number;
  readonly isWhole: boolean;
}

export function useConversation(name: string): {
  readonly data: ShownConversation | undefined;
  readonly error: unknown;
} {
  const [data, setData] = useState<ShownConversation>();
  const [error, setError] = useState<unknown>();
  const lastSeq = useRef<number>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isAsking = useRef(false);

  useEffect(() => {
    let isGone = false;
    const load = async () => {
      const newest = await queries.fetchQuery(newestTalkQuery(name));
      if (isGone) return;
      lastSeq.current = newest.lastSeq;
      const first = newest.entries[0]?.seq ?? 0;
      const isWhole = first <= Math.max(1, newest.firstSeq);
      const lost = Math.max(0, newest.firstSeq - 1);
      setData({ entries: newest.entries, tells: newest.tells, lost, isWhole });
      // It was asked for before this listened to events.
      later();
      if (isWhole) return;
      const older = await client.getConversation(name, { before: first, limit: wholePage });
      if (isGone) return;
      setData((now) => now && { ...now, entries: [...older.entries, ...now.entries], isWhole: true });
    };
    load().catch((failure: unknown) => !isGone && setError(failure));
    return () => {
      isGone = true;
      clearTimeout(timer.current);
    };
  }, [name]);

  const ask = () => {
    timer.current = undefined;
    if (lastSeq.current === undefined) return;
    if (isAsking.current) return later();
    isAsking.current = true;
    client
      .getConversation(name, { after: lastSeq.current, limit: wholePage })
      .then(({ entries, tells }) => {
        lastSeq.current = entries.at(-1)?.seq ?? lastSeq.current;
        setError(undefined);
        setData(
          (now) =>
            now &&
            (entries.length === 0 && now.tells === tells
              ? now
              : { ...now, tells, entries: [...now.entries, ...entries] }),
        );
      }, setError)
      .finally(() => (isAsking.current = false));
  };
  const later = () => {
    timer.current ??= setTimeout(ask, gatherMs);
  };
  useLiveEvents(later, { box: name });
  const connection = useConnection();
  useEffect(() => {
    if (connection === "live") later();
    // Only when the connection is back: what came meanwhile was told to nobody.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [connection]);
  return { data, error };
}
