/**
 * The lines of the new text that were not in the old one, each as often as it was there. A line that only moved is not
 * new; no full diff is needed for that, so the cost is one pass for any texts.
 */
export function addedLines(oldText: string | undefined, newText: string): (line: number) => boolean {
  if (oldText === undefined || oldText === "") return () => true;
  const before = new Map<string, number>();
  for (const line of oldText.split("\n")) before.set(line, (before.get(line) ?? 0) + 1);
  const added = new Set<number>();
  newText.split("\n").forEach((line, at) => {
    const left = before.get(line) ?? 0;
    if (left === 0) added.add(at + 1);
    else before.set(line, left - 1);
  });
  return (line) => added.has(line);
}
