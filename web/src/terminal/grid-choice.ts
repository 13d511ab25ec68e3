/** Which boxes a person wants to see side by side, kept in this browser. */
const storageKey = "agentbox-terminals";
export const mostTiles = 24;
const firstTiles = 4;

export function readChoice(
  kept: string | null = localStorage.getItem(storageKey),
): readonly string[] | undefined {
  if (kept === null) return undefined;
  try {
    const names: unknown = JSON.parse(kept);
    if (!Array.isArray(names)) return undefined;
    return names.filter((name): name is string => typeof name === "string").slice(0, mostTiles);
  } catch {
    return undefined;
  }
}

export const keepChoice = (names: readonly string[]): void =>
  localStorage.setItem(storageKey, JSON.stringify(names));

/** The chosen terminals, in the order of choice, as far as they run; without a choice, the first few. */
export function shownBoxes(
  running: readonly string[],
  choice: readonly string[] | undefined,
): readonly string[] {
  if (choice === undefined) return running.slice(0, firstTiles);
  const there = new Set(running);
  return choice.filter((name) => there.has(name));
}
