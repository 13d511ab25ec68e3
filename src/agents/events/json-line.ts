/**
 * The output of agents is read tolerantly: a line that is not a JSON object is skipped, and a missing field is empty.
 */
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

/** A count of tokens; any other value counts as none. */
export const asCount = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
