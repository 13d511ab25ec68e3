/** The sequences of the bar's keys; a phone's keyboard has none of them. */
export const barKeys = ["Esc", "Tab", "Ctrl", "↑", "↓", "←", "→", "|", "~", "/", "-"] as const;
export type BarKey = (typeof barKeys)[number];

const arrows: Partial<Record<BarKey, string>> = { "↑": "A", "↓": "B", "→": "C", "←": "D" };

/** Undefined for Ctrl, which changes the next key. */
export function sequenceOf(key: BarKey, isApplicationMode: boolean): string | undefined {
  if (key === "Ctrl") return undefined;
  if (key === "Esc") return "\u001b";
  if (key === "Tab") return "\t";
  const arrow = arrows[key];
  if (arrow !== undefined) return `\u001b${isApplicationMode ? "O" : "["}${arrow}`;
  return key;
}

/** The control character of one typed character; what has none stays what it is. */
export function withCtrl(typed: string): string {
  if (typed.length !== 1) return typed;
  if (typed === "?") return "\u007f";
  if (typed === " ") return "\u0000";
  const code = typed.toUpperCase().charCodeAt(0);
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code - 0x40) : typed;
}

/** How many keys a person would say this was: one for each character, and one for a sequence. */
export const keyCount = (typed: string): number =>
  typed.startsWith("\u001b") ? 1 : Array.from(typed).length;
