import { type ReactNode, useState } from "react";
import type { Token } from "../../code/colours.ts";
import { visiblePieces } from "../../parts/visible-text.ts";
import type { Span } from "./words.ts";

interface CodeLineProps {
  text: string;
  tokens?: readonly Token[] | undefined;
  /** The changed part of the line. */
  changed?: Span | undefined;
  hasNoNewline?: boolean | undefined;
}

const shownLength = 1_500;

/** One line of code: colours, the changed part, and characters that would hide themselves. */
export function CodeLine({ text, tokens, changed, hasNoNewline }: CodeLineProps) {
  const [isWhole, setWhole] = useState(false);
  const rest = text.length - shownLength;
  const isCut = rest > 0 && !isWhole;
  const parts = isCut ? [{ text: text.slice(0, shownLength) }] : (tokens ?? [{ text }]);
  return (
    <code className="review-code">
      {piecesOf(parts, isCut ? undefined : changed)}
      {isCut ? (
        <button type="button" className="review-more" onClick={() => setWhole(true)}>
          {rest.toLocaleString("en-US")} more characters
        </button>
      ) : null}
      {hasNoNewline ? <span className="review-mark">no newline at the end</span> : null}
    </code>
  );
}

function piecesOf(tokens: readonly Token[], changed: Span | undefined): ReactNode[] {
  const pieces: ReactNode[] = [];
  let at = 0;
  for (const { text, colour } of tokens) {
    const cuts = changed === undefined ? [] : [changed.start, changed.end];
    const bounds = [
      0,
      ...cuts.map((cut) => cut - at).filter((cut) => cut > 0 && cut < text.length),
      text.length,
    ];
    for (let index = 1; index < bounds.length; index += 1) {
      const [start, end] = [bounds[index - 1]!, bounds[index]!];
      const isChanged =
        changed !== undefined && at + start >= changed.start && at + end <= changed.end && end > start;
      const name = [colour && `code-${colour}`, isChanged && "review-word"].filter(Boolean).join(" ");
      const part = text.slice(start, end);
      pieces.push(
        name === "" ? (
          <Plain key={pieces.length} text={part} />
        ) : (
          <span key={pieces.length} className={name}>
            <Plain text={part} />
          </span>
        ),
      );
    }
    at += text.length;
  }
  return pieces;
}

function Plain({ text }: { text: string }) {
  const pieces = visiblePieces(text);
  if (pieces.length < 2 && pieces[0]?.isHidden !== true) return <>{text}</>;
  return (
    <>
      {pieces.map(({ text: part, isHidden }, index) =>
        isHidden ? (
          <span key={index} className="parts-hidden-character" title="A character that cannot be seen">
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </>
  );
}
