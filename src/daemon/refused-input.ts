/** What a person reads when a request breaks the API's rules: the values by their names in words, and what each must be. */
import type { z } from "zod";
import { AgentBoxError } from "../base/errors.ts";

/** `expiresAtMs` is "expires at"; the unit is a matter of the API. */
function wordsOf(name: string): string {
  const words = name
    .replace(/(?<=[a-z])(Ms|Bytes|Seconds|MicroUsd|Usd)$/, "")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ");
  return words.toLowerCase();
}

/** The innermost name, with its place in a list. */
function fieldOf(path: readonly PropertyKey[], where: string): string {
  const name = path.findLast((part) => typeof part === "string");
  const index = path.at(-1);
  const field = name === undefined ? `the ${where}` : wordsOf(name);
  return typeof index === "number" ? `${field}, number ${index + 1}` : field;
}

function needOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined && issue.message.includes("received undefined")
        ? "is missing"
        : `must be ${/^[aeiou]/.test(issue.expected) ? "an" : "a"} ${issue.expected}`;
    case "too_small":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`
        : "is too short";
    case "too_big":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}`
        : `is too long: at most ${issue.maximum}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "unrecognized_keys":
      return `has no ${issue.keys.map(wordsOf).join(", ")}`;
    case "custom":
      return issue.message;
    case "invalid_element":
    case "invalid_format":
    case "invalid_key":
    case "invalid_union":
    case "not_multiple_of":
    default:
      return "has a value that is not accepted";
  }
}

/** Programs find the paths as the API names them in the facts. */
export function refusedInput(error: z.ZodError, where: string): AgentBoxError {
  const issues = error.issues.slice(0, 5);
  const needs = issues.map((issue) => `${fieldOf(issue.path, where)} ${needOf(issue)}`);
  const sentence = needs.join("; ").replace(/\.$/, "");
  return new AgentBoxError("input.invalid", `${sentence[0]?.toUpperCase() ?? ""}${sentence.slice(1)}.`, {
    hint: "Correct this and try again.",
    facts: { paths: issues.map(({ path }) => path.map(String).join(".") || where) },
  });
}
