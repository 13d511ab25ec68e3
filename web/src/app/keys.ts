import { useEffect, useRef } from "react";

const takesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.closest(".xterm, dialog") !== null);

export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/**
 * Keys of a page, by the character (`j`, `/`, `Enter`, `ArrowDown`). Not while the user writes, in a terminal or in a
 * dialog, and not together with Ctrl, Alt or Meta, which belong to the browser.
 */
export function useKeys(keys: KeyMap, isActive = true): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    if (!isActive) return undefined;
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
      if (takesText(event.target)) return;
      // Enter on a button or a link is that button's own.
      const isOwn =
        event.target instanceof HTMLElement && event.target.closest("button, a, summary") !== null;
      if (isOwn && (event.key === "Enter" || event.key === " ")) return;
      const action = latest.current[event.key];
      if (!action) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [isActive]);
}
