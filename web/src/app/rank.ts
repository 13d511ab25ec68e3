/** How well letters fit a label: in order, those together and at the start of words first; undefined: not at all. */
function fit(label: string, letters: string): number | undefined {
  const text = label.toLowerCase();
  const whole = text.indexOf(letters);
  if (whole >= 0) return whole === 0 ? 0 : /[\s-]/.test(text[whole - 1] ?? "") ? 1 : 2;
  let at = -1;
  let gaps = 0;
  for (const letter of letters) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return undefined;
    gaps += next - at - 1;
    at = next;
  }
  return 3 + gaps;
}

/** A word of the text that is only described by it, such as a task: found as it stands, or not at all. */
const fitMore = (more: string, word: string): number | undefined => {
  const at = more.toLowerCase().indexOf(word);
  return at < 0 ? undefined : 20 + (at === 0 || /[\s-]/.test(more[at - 1] ?? "") ? 0 : 1);
};

/** Each word must fit somewhere, in any order. */
function score(label: string, more: string, words: readonly string[]): number | undefined {
  let sum = 0;
  for (const word of words) {
    const fits = [fit(label, word), fitMore(more, word)].filter((one) => one !== undefined);
    if (fits.length === 0) return undefined;
    sum += Math.min(...fits);
  }
  return sum;
}

/** The matches, the best first; of equals, the shorter and then the one that came first. */
export function rank<T>(
  items: readonly T[],
  text: string,
  labelOf: (item: T) => string,
  moreOf: (item: T) => string = () => "",
): readonly T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  return items
    .map((item) => ({ item, score: score(labelOf(item), moreOf(item), words), length: labelOf(item).length }))
    .filter((one): one is { item: T; score: number; length: number } => one.score !== undefined)
    .sort((a, b) => a.score - b.score || a.length - b.length)
    .map(({ item }) => item);
}
