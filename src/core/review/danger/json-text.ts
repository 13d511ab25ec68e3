/** Undefined for what is no JSON object. */
export function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    return asObject(JSON.parse(text.replace(/^\ufeff/, "")));
  } catch {
    return undefined;
  }
}

export const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;

/** The line of the first `needle` at or after the line of `after`; for showing only, so the nearest guess will do. */
export function lineOf(text: string, needle: string, after?: string): number | undefined {
  const from = after === undefined ? 0 : Math.max(0, text.indexOf(after));
  const at = text.indexOf(needle, from);
  if (at === -1) return undefined;
  let line = 1;
  for (let i = text.indexOf("\n"); i !== -1 && i < at; i = text.indexOf("\n", i + 1)) line += 1;
  return line;
}
