/**
 * SECURITY: an answer counts only after the questions have stood still this long. A box chooses when it asks and when
 * it withdraws, so none must slip under a key or a click that was meant for the one that stood there before.
 */
import { useEffect, useRef, useState } from "react";

export const readingMs = 700;

/** Which questions are shown, and since when exactly these. */
export class Reading {
  #shown = "";
  #sinceMs = 0;

  see(questions: readonly { readonly id: number; readonly digest: string }[], nowMs: number): void {
    const shown = questions.map(({ id, digest }) => `${id} ${digest}`).join("\n");
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#sinceMs = nowMs;
  }

  /** How long until they could be read; 0 when they could. */
  leftMs(nowMs: number): number {
    return Math.max(0, this.#sinceMs + readingMs - nowMs);
  }
}

/** Whether the questions on the screen could be read by now. */
export function useReading(questions: readonly { readonly id: number; readonly digest: string }[]): boolean {
  const reading = useRef<Reading>(undefined);
  reading.current ??= new Reading();
  reading.current.see(questions, performance.now());
  const leftMs = reading.current.leftMs(performance.now());
  const [, render] = useState(0);
  useEffect(() => {
    if (leftMs === 0) return undefined;
    const timer = setTimeout(() => render((count) => count + 1), leftMs);
    return () => clearTimeout(timer);
  });
  return leftMs === 0;
}
