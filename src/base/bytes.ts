const factors = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
} as const;

/** "512MiB", "2GB" → bytes; undefined when it is not a size. */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(B|[KMGT]i?B)$/.exec(text);
  if (!match) return undefined;
  const bytes = Math.round(Number(match[1]) * factors[match[2] as keyof typeof factors]);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Bytes → "1.5 GiB". */
export function formatBytes(bytes: number): string {
  for (const unit of ["TiB", "GiB", "MiB", "KiB"] as const) {
    if (bytes >= factors[unit]) {
      const amount = bytes / factors[unit];
      return `${amount >= 100 ? Math.round(amount) : Math.round(amount * 10) / 10} ${unit}`;
    }
  }
  return `${bytes} B`;
}
