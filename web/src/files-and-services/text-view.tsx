import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import type { Token } from "../code/colours.ts";
import { useHighlighter } from "../code/use-highlighter.ts";
import { Visible } from "../parts/visible.tsx";

const rowPx = 20;
/** Colours for more than this would hold the page up. */
const colouredLength = 200_000;
const shownLength = 2_000;

/** Lines with their numbers; only those on the screen exist. */
export function TextView({ path, lines }: { path: string; lines: readonly string[] }) {
  const scroll = useRef<HTMLDivElement>(null);
  const highlighter = useHighlighter(path);
  const coloured = useMemo(() => {
    const text = lines.join("\n");
    return highlighter === undefined || text.length > colouredLength ? undefined : highlighter(text);
  }, [highlighter, lines]);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowPx,
    overscan: 20,
  });
  return (
    <section ref={scroll} className="files-text" aria-label={`Text of ${path}`} tabIndex={0}>
      <div className="files-text-all" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start, key }) => (
          <div
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className="files-line"
            style={{ transform: `translateY(${start}px)` }}
          >
            <span className="files-line-number" aria-hidden="true">
              {index + 1}
            </span>
            <Line text={lines[index] ?? ""} tokens={coloured?.[index]} />
          </div>
        ))}
      </div>
    </section>
  );
}

function Line({ text, tokens }: { text: string; tokens: readonly Token[] | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > shownLength && !isWhole;
  const parts = isCut ? [{ text: text.slice(0, shownLength) }] : (tokens ?? [{ text }]);
  return (
    <code className="files-code">
      {parts.map(({ text: part, colour }: Token, index) => (
        <span key={index} className={colour === undefined ? undefined : `code-${colour}`}>
          <Visible text={part} />
        </span>
      ))}
      {isCut ? (
        <button type="button" className="files-more" onClick={() => setWhole(true)}>
          {(text.length - shownLength).toLocaleString("en-US")} more characters
        </button>
      ) : null}
    </code>
  );
}
