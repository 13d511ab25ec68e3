const spans = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
] as const;

/** The two greatest units: `3d 4h`, `12m`, `45s`. */
export function formatSpan(ms: number): string {
  let rest = Math.max(0, Math.round(ms / 1_000) * 1_000);
  const parts: string[] = [];
  for (const [unitMs, name] of spans) {
    const n = Math.floor(rest / unitMs);
    rest -= n * unitMs;
    if (n > 0) parts.push(`${n}${name}`);
    if (parts.length === 2 || (parts.length > 0 && n === 0)) break;
  }
  return parts.join(" ") || "0s";
}

export function formatBytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = n;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function formatMoney(microUsd: number): string {
  const usd = microUsd / 1e6;
  if (usd !== 0 && Math.abs(usd) < 0.01) return "< $0.01";
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

export function formatCount(n: number): string {
  if (n < 10_000) return n.toLocaleString("en-US");
  if (n < 1_000_000) return `${(n / 1_000).toFixed(n < 100_000 ? 1 : 0)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}
