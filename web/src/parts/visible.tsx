import { visiblePieces } from "./visible-text.ts";

/** Text from a box, with hidden characters shown by their names. */
export function Visible({ text }: { text: string }) {
  const pieces = visiblePieces(text);
  if (pieces.every(({ isHidden }) => !isHidden)) return <>{text}</>;
  return (
    <bdi>
      {pieces.map(({ text: part, isHidden }, index) =>
        isHidden ? (
          <span key={index} className="parts-hidden-character" title="A character that cannot be seen">
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </bdi>
  );
}
