/** Patterns for the names of models: `*` is any text, everything else is itself, letter by letter. */
import { matchGlob } from "../network/glob.ts";

const matchesModel = (pattern: string, model: string): boolean =>
  matchGlob(
    pattern,
    model,
    (part) => part === "*",
    (part, item) => part === item,
  );

/** Whether a box with this list may use the model; an empty list allows all. */
export const isModelAllowed = (allow: readonly string[], model: string): boolean =>
  allow.length === 0 || allow.some((pattern) => matchesModel(pattern, model));

/**
 * The models that both lists allow. A pattern that reads as a match of another is contained in it, because its stars
 * lie where the other has stars; patterns that only overlap are dropped, so that the result never allows more than
 * either. Undefined: nothing is left, which is not the same as the empty list.
 */
export function narrowModels(
  bound: readonly string[],
  wanted: readonly string[],
): readonly string[] | undefined {
  if (bound.length === 0) return wanted;
  if (wanted.length === 0) return bound;
  const both = [
    ...wanted.filter((pattern) => isModelAllowed(bound, pattern)),
    ...bound.filter((pattern) => isModelAllowed(wanted, pattern)),
  ];
  return both.length === 0 ? undefined : [...new Set(both)];
}
