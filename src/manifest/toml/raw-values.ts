import type { Problem } from "../finding.ts";
import { type HiddenCharacter, findHiddenInValue } from "./hidden-text.ts";
import type { Path } from "../path.ts";

const maxDepth = 10;
const maxValues = 50_000;
const unsafeKeys = new Set(["__proto__", "constructor", "prototype"]);

/**
 * The first reason not to look at unchecked values any further. It comes before the schema, because the schema
 * would copy such keys into objects and because it walks what it is given.
 */
export function findUnsafeValue(root: unknown, findHidden = findHiddenInValue): Problem | undefined {
  const open: { value: unknown; path: Path }[] = [{ value: root, path: [] }];
  let seen = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === "string") {
      const problem = hiddenProblem(findHidden(value), path, "value");
      if (problem) return problem;
    }
    if (value === null || typeof value !== "object" || value instanceof Date) continue;
    if (path.length >= maxDepth) return deepProblem(path, "nested too deeply");
    for (const [key, child] of entriesOf(value)) {
      const at = [...path, key];
      if (++seen > maxValues) return deepProblem(path, "too many");
      const problem = typeof key === "string" ? keyProblem(key, at) : undefined;
      if (problem) return problem;
      open.push({ value: child, path: at });
    }
  }
  return undefined;
}

const entriesOf = (value: object): Iterable<[string | number, unknown]> =>
  Array.isArray(value) ? value.entries() : Object.entries(value);

function keyProblem(key: string, path: Path): Problem | undefined {
  if (unsafeKeys.has(key)) {
    return {
      code: "E006",
      path,
      at: "key",
      message: `The key "${key}" is not allowed anywhere.`,
      hint: "Choose another name.",
    };
  }
  return hiddenProblem(findHiddenInValue(key), path, "key");
}

function hiddenProblem(
  hidden: HiddenCharacter | undefined,
  path: Path,
  at: "key" | "value",
): Problem | undefined {
  if (!hidden) return undefined;
  return {
    code: "E003",
    path,
    at,
    message: `This ${at} contains the hidden character ${hidden.name}.`,
    hint: "Remove it; a person cannot see what it does to the text around it.",
  };
}

const deepProblem = (path: Path, what: string): Problem => ({
  code: "E005",
  path,
  at: "key",
  message: `The values here are ${what}.`,
  hint: "No section needs more than a few levels and a few hundred values.",
});
