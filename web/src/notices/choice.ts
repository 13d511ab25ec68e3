/** What a person wants to hear of; kept in the browser, because another browser is another place to be disturbed. */
import { useSyncExternalStore } from "react";
import type { NoticeKind } from "./notice-words.ts";

export type NoticeChoice = Readonly<Record<NoticeKind, boolean>>;

const place = "agentbox-notices";
const nothing: NoticeChoice = { "needs-you": false, done: false };
const watchers = new Set<() => void>();
let kept: { text: string | null; choice: NoticeChoice } = { text: null, choice: nothing };

/** The same object until it changes, as React asks. */
export function noticeChoice(): NoticeChoice {
  const text = localStorage.getItem(place);
  if (text !== kept.text) kept = { text, choice: parseChoice(text) };
  return kept.choice;
}

export function parseChoice(text: string | null): NoticeChoice {
  const chosen = (text ?? "").split(" ");
  return { "needs-you": chosen.includes("needs-you"), done: chosen.includes("done") };
}

export function chooseNotices(choice: NoticeChoice): void {
  const chosen = (["needs-you", "done"] as const).filter((kind) => choice[kind]);
  localStorage.setItem(place, chosen.join(" "));
  for (const watcher of watchers) watcher();
}

export const useNoticeChoice = (): NoticeChoice =>
  useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    addEventListener("storage", watcher);
    return () => {
      watchers.delete(watcher);
      removeEventListener("storage", watcher);
    };
  }, noticeChoice);
