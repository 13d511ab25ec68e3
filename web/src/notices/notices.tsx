/** Tells a person who looks elsewhere that a box needs them or is done, once for each change; and how much waits. */
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { type Notice, newsMs, noticeOf } from "../../../src/contract/notices.ts";
import { useLiveEvents } from "../api/live.ts";
import { useNeeds } from "../inbox/needs.tsx";
import { noticeChoice } from "./choice.ts";
import { titleWith } from "./notice-words.ts";
import { tellOnce } from "./tell-once.ts";

export function Notices() {
  const navigate = useNavigate();
  useLiveEvents((event) => {
    const notice = noticeOf(event);
    if (!notice || Date.now() - event.atMs > newsMs || !isWanted(notice)) return;
    void tellOnce(notice.key, () => show(notice, () => void navigate({ to: notice.path }))).catch(
      () => undefined,
    );
  });
  useTitle();
  return null;
}

const isWanted = ({ kind }: Notice): boolean =>
  noticeChoice()[kind] && "Notification" in globalThis && Notification.permission === "granted";

function show({ key, title, body }: Notice, go: () => void): void {
  const shown = new Notification(title, { body, tag: key, icon: "/icon.svg" });
  shown.addEventListener("click", () => {
    window.focus();
    go();
    shown.close();
  });
}

/** Pages set their own titles; the number goes in front of whatever is there. */
function useTitle(): void {
  const { length: needs } = useNeeds().needs;
  useEffect(() => {
    const put = () => {
      const wanted = titleWith(document.title, needs);
      if (document.title !== wanted) document.title = wanted;
    };
    put();
    const title = document.querySelector("title");
    if (!title) return undefined;
    const watching = new MutationObserver(put);
    watching.observe(title, { childList: true });
    return () => watching.disconnect();
  }, [needs]);
}
