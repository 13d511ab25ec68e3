/** What agents print is read tolerantly: a line that is no JSON object says nothing, and a missing field is empty. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function parseLine(line: string): JsonObject | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    return asObject(JSON.parse(line));
  } catch {
    return undefined;
  }
}

export const asObject = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** A count of tokens, whatever was sent in its place. */
export const asCount = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
