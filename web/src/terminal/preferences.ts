/** The user's choices for all terminals of this browser. */
const storageKey = "agentbox-terminal-text";
const sizes = { least: 8, usual: 13, most: 28 } as const;

export const limitFontSize = (size: number): number => Math.min(sizes.most, Math.max(sizes.least, size));

export function readFontSize(): number {
  const kept = Number(localStorage.getItem(storageKey));
  return Number.isFinite(kept) && kept > 0 ? limitFontSize(kept) : sizes.usual;
}

export const keepFontSize = (size: number): void =>
  localStorage.setItem(storageKey, String(limitFontSize(size)));
