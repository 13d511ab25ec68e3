/**
 * Text from a box, with what a person cannot see made visible: controls, direction marks and invisible characters can
 * make a name or a line of code look like another (Trojan Source).
 */
export interface Piece {
  readonly text: string;
  /** The name of a hidden character, such as U+202E. */
  readonly isHidden: boolean;
}

/** Controls but tab and line feed, soft hyphens, fillers, direction marks, variation selectors, tags. */
const hidden = new RegExp(
  [
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180e]",
    "[\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb]",
    "[\\u{e0000}-\\u{e007f}]",
  ].join("|"),
  "gu",
);

const nameOf = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

export function visiblePieces(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(hidden)) {
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), isHidden: false });
    pieces.push({ text: nameOf(match[0]), isHidden: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isHidden: false });
  return pieces;
}

/** The same for places that take plain text only, such as titles. */
export const visible = (text: string): string =>
  visiblePieces(text)
    .map(({ text: part, isHidden }) => (isHidden ? `⟨${part}⟩` : part))
    .join("");
