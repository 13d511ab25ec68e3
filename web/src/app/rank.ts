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

/** The matches, the best first; of equals, the shorter and then the one that came first. */
export function rank<T>(items: readonly T[], text: string, labelOf: (item: T) => string): readonly T[] {
  const letters = text.trim().toLowerCase();
  if (letters === "") return items;
  return items
    .map((item) => ({ item, score: fit(labelOf(item), letters), length: labelOf(item).length }))
    .filter((one): one is { item: T; score: number; length: number } => one.score !== undefined)
    .sort((a, b) => a.score - b.score || a.length - b.length)
    .map(({ item }) => item);
}
