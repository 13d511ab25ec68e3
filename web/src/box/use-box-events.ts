import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type { BoxEvent } from "../../../src/contract/events.ts";
import { client } from "../api/client.ts";
import { useLiveEvents } from "../api/live.ts";
import { mergeEvents } from "./event-words.ts";

const maxLive = 5_000;

/** The events of a box, the newest first: pages of the log, and what happens now. */
export function useBoxEvents(name: string, { sinceMs, limit = 200 }: { sinceMs: number; limit?: number }) {
  const [live, setLive] = useState<readonly BoxEvent[]>([]);
  useEffect(() => setLive([]), [name]);
  useLiveEvents((event) => setLive((now) => [event, ...now].slice(0, maxLive)), { box: name });
  const pages = useInfiniteQuery({
    // Not below ["box", name]: each event would ask for every page again.
    queryKey: ["events", name, limit],
    queryFn: ({ pageParam }) => client.listEvents({ box: name, order: "newest", limit, before: pageParam }),
    initialPageParam: undefined as number | undefined,
    // The log is kept by name, and goes on with an earlier box of this name.
    getNextPageParam: ({ events }) => {
      const last = events.at(-1);
      return last === undefined || events.length < limit || last.atMs < sinceMs ? undefined : last.id;
    },
    // Events from the time without a connection are in no cached page.
    gcTime: 0,
    staleTime: 0,
  });
  const { data } = pages;
  const events = useMemo(
    () =>
      mergeEvents(live, data?.pages.flatMap((page) => page.events) ?? []).filter(
        ({ atMs }) => atMs >= sinceMs,
      ),
    [live, data, sinceMs],
  );
  return { ...pages, events };
}
