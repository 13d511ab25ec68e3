/** Colours of the lines of a hunk: each side is read as a whole, because a comment may begin lines before. */
import type { Highlighter, Token } from "../code/colours.ts";
import type { Hunk, PatchLine } from "./patch.ts";

const longestText = 200_000;
const longestLine = 5_000;

const kept = new WeakMap<Hunk, Map<PatchLine, readonly Token[]>>();
const none = new Map<PatchLine, readonly Token[]>();

export function tokensOf(
  highlight: Highlighter | undefined,
  hunk: Hunk,
  line: PatchLine,
): readonly Token[] | undefined {
  if (highlight === undefined) return undefined;
  let tokens = kept.get(hunk);
  if (tokens === undefined) {
    tokens = colour(highlight, hunk);
    kept.set(hunk, tokens);
  }
  return tokens.get(line);
}

function colour(highlight: Highlighter, { lines }: Hunk): Map<PatchLine, readonly Token[]> {
  const length = lines.reduce((sum, { text }) => sum + text.length, 0);
  // Grammars are slow on what no person has written.
  if (length > longestText || lines.some(({ text }) => text.length > longestLine)) return none;
  const tokens = new Map<PatchLine, readonly Token[]>();
  for (const absent of ["added", "deleted"] as const) {
    const side = lines.filter(({ kind }) => kind !== absent);
    const found = highlight(side.map(({ text }) => text).join("\n"));
    for (const [index, line] of side.entries()) tokens.set(line, found[index] ?? []);
  }
  return tokens;
}
