/** The part of a changed line that has really changed: what lies between an equal beginning and an equal end. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const longest = 2_000;
const isWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** Undefined where marking would not help: lines that have little in common, or nothing but that. */
export function changedSpans(before: string, after: string): { before: Span; after: Span } | undefined {
  if (before === after || before.length > longest || after.length > longest) return undefined;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  // Whole words: half of one is hard to read.
  while (start > 0 && isWord(before[start - 1]) && (isWord(before[start]) || isWord(after[start])))
    start -= 1;
  while (
    end > 0 &&
    isWord(before[before.length - end]) &&
    (isWord(before[before.length - end - 1]) || isWord(after[after.length - end - 1]))
  )
    end -= 1;
  const common = before.slice(0, start).trim().length + before.slice(before.length - end).trim().length;
  if (common === 0) return undefined;
  return { before: { start, end: before.length - end }, after: { start, end: after.length - end } };
}
