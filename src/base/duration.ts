const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof unitMs;

/** "90s", "1h30m", "5d" → milliseconds; undefined when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * unitMs[unit as Unit];
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : undefined;
}

/** Milliseconds → "1h30m": at most two units, the largest first. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  const parts: string[] = [];
  let rest = Math.round(ms / 1_000) * 1_000;
  for (const unit of ["d", "h", "m", "s"] as const) {
    const amount = Math.floor(rest / unitMs[unit]);
    if (amount > 0 && parts.length < 2) parts.push(`${amount}${unit}`);
    else if (parts.length > 0) break;
    rest -= amount * unitMs[unit];
  }
  return parts.join("");
}
