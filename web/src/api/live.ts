/**
 * One stream of events for the whole page. It resumes from the last event it has seen, so none is missed after a loss;
 * data that an event makes stale is asked for again, at most a few times a second however many events there are.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { BoxEvent } from "../../../src/contract/events.ts";
import { client } from "./client.ts";
import { queries } from "./queries.ts";

export type Connection = "connecting" | "live" | "lost";

const firstRetryMs = 250;
const lastRetryMs = 5_000;
const gatherMs = 150;

let connection: Connection = "connecting";
const watchers = new Set<() => void>();
const listeners = new Set<(event: BoxEvent) => void>();

function setConnection(next: Connection): void {
  if (connection === next) return;
  connection = next;
  for (const watcher of watchers) watcher();
}

/** Whether what is on the screen is what is. */
export const useConnection = (): Connection =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => connection,
  );

/** Calls back for each event from now on, of one box or of all. */
export function useLiveEvents(listener: (event: BoxEvent) => void, { box }: { box?: string } = {}): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const listen = (event: BoxEvent) => {
      if (box === undefined || event.box === box) latest.current(event);
    };
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, [box]);
}

const stale = new Set<string>();
/** Boxes that this page is removing: asking for one again would only fail while the answer is on its way. */
const leaving = new Set<string>();
let gathering: ReturnType<typeof setTimeout> | undefined;

function refresh(): void {
  gathering = undefined;
  const keys = [...stale].map((key) => JSON.parse(key) as string[]);
  stale.clear();
  for (const queryKey of keys) {
    const [, box] = queryKey;
    if (box !== undefined && leaving.has(box)) continue;
    // An answer on its way may be older than the event, and breaking it off each time would never bring one.
    if (queries.isFetching({ queryKey }) > 0) stale.add(JSON.stringify(queryKey));
    else void queries.invalidateQueries({ queryKey });
  }
  if (stale.size > 0) gathering = setTimeout(refresh, gatherMs);
}

/** Runs the removal of a box, of which the page is not refreshed meanwhile, nor when it has worked. */
export async function removing<T>(box: string, remove: () => Promise<T>): Promise<T> {
  leaving.add(box);
  try {
    return await remove();
  } catch (error) {
    leaving.delete(box);
    void queries.invalidateQueries({ queryKey: ["box", box] });
    throw error;
  }
}

/** Which answers an event makes stale. */
function staleKeys({ type, box }: Pick<BoxEvent, "type" | "box">): readonly (readonly string[])[] {
  const [noun = ""] = type.split(".");
  const keys: string[][] = [];
  if (box !== undefined) keys.push(["box", box]);
  const changesList = [
    "box",
    "boot",
    "agent",
    "session",
    "checkpoint",
    "work",
    "budget",
    "review",
    "approval",
  ];
  if (changesList.includes(noun)) keys.push(["boxes"]);
  // A member hears of the boxes of their tasks, and not of the queue itself.
  if (["queue", "agent", "box", "checkpoint"].includes(noun)) keys.push(["queue"]);
  if (noun === "approval" || type === "box.removed") keys.push(["approvals"]);
  if (noun === "secret" || noun === "vault") keys.push(["vault"]);
  if (noun === "tool") keys.push(["agents"]);
  if (noun === "token" || noun === "access") keys.push(["access"]);
  if (box !== undefined && ["checkpoint", "work", "review", "check", "agent"].includes(noun))
    keys.push(["review", box]);
  if (noun === "budget" || noun === "model" || type === "agent.ended") keys.push(["usage"]);
  return keys;
}

function take(event: BoxEvent): void {
  if (event.type === "box.created" && event.box !== undefined) leaving.delete(event.box);
  for (const key of staleKeys(event)) stale.add(JSON.stringify(key));
  gathering ??= setTimeout(refresh, gatherMs);
  for (const listener of listeners) listener(event);
}

/** Follows the log from after this event until told to stop. */
export function followEvents(after: number): () => void {
  const end = new AbortController();
  void follow(end.signal, after);
  return () => end.abort();
}

async function follow(signal: AbortSignal, first: number): Promise<void> {
  let after = first;
  let isBack = false;
  let retryMs = firstRetryMs;
  while (!signal.aborted) {
    try {
      // Shows that the daemon is there, before the page says so.
      if (isBack) await client.listEvents({ limit: 1, order: "newest" });
      const events = client.followEvents({ after }, signal);
      // The data on the screen may be older than the gap.
      if (isBack) void queries.invalidateQueries();
      isBack = true;
      setConnection("live");
      retryMs = firstRetryMs;
      for await (const event of events) {
        after = event.id;
        take(event);
      }
    } catch {
      // Said below, and tried again.
    }
    if (signal.aborted) return;
    setConnection("lost");
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    retryMs = Math.min(retryMs * 2, lastRetryMs);
  }
}
