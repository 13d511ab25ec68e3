import { useEffect, useState } from "react";
import { type Highlighter, loadHighlighter } from "./colours.ts";
import { languageOf } from "./languages.ts";

const ready = new Map<string, Highlighter>();

/** Undefined until the grammar is here, and for files that have none. */
export function useHighlighter(path: string): Highlighter | undefined {
  const language = languageOf(path);
  const [, setCount] = useState(0);
  useEffect(() => {
    if (language === undefined || ready.has(language)) return undefined;
    let isGone = false;
    loadHighlighter(language).then(
      (highlighter) => {
        ready.set(language, highlighter);
        if (!isGone) setCount((count) => count + 1);
      },
      // Without colours the text is still all there.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [language]);
  return language === undefined ? undefined : ready.get(language);
}
