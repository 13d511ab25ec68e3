// Reading JSON that a client sent: what has another shape reads as empty, so that no request crashes the server.

export type JsonObject = { readonly [key: string]: unknown };

export const asObject = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asObjects = (value: unknown): readonly JsonObject[] => asList(value).map(asObject);

export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
