/** The notices that a person wants in this browser; each browser has its own choice. */
import { useSyncExternalStore } from "react";
import { type NoticeKind, noticeKinds } from "../../../src/contract/notices.ts";

export type NoticeChoice = Readonly<Record<NoticeKind, boolean>>;

const storageKey = "agentbox-notices";
const watchers = new Set<() => void>();
let kept: { text: string | null; choice: NoticeChoice } = { text: null, choice: parseChoice(null) };

/** The same object until it changes, as React asks. */
export function noticeChoice(): NoticeChoice {
  const text = localStorage.getItem(storageKey);
  if (text !== kept.text) kept = { text, choice: parseChoice(text) };
  return kept.choice;
}

export function parseChoice(text: string | null): NoticeChoice {
  const chosen = (text ?? "").split(" ");
  return Object.fromEntries(noticeKinds.map((kind) => [kind, chosen.includes(kind)])) as NoticeChoice;
}

export const chooseAll = (): void => keep(noticeKinds);

export const chooseNotice = (kind: NoticeKind, isWanted: boolean): void =>
  keep(noticeKinds.filter((one) => (one === kind ? isWanted : noticeChoice()[one])));

function keep(chosen: readonly NoticeKind[]): void {
  localStorage.setItem(storageKey, chosen.join(" "));
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
