import type { z } from "zod";
import { suggest } from "../base/suggest.ts";
import { type Problem, quote } from "./finding.ts";
import { type Path, formatPath } from "./path.ts";

/** Words of container engines that take something of the baseline away. */
const closed = new Set([
  "privileged",
  "cap_add",
  "cap_drop",
  "security_opt",
  "seccomp",
  "apparmor",
  "no_new_privileges",
  "network_mode",
  "pid_mode",
  "ipc_mode",
  "uts_mode",
  "userns_mode",
  "cgroup_parent",
  "docker_socket",
  "run_args",
]);

/** People who know an engine look for these; a word about why they are not there helps more than "not known". */
function closedSetting(path: Path): Problem | undefined {
  const isAboutBoxes = path.length === 1 || path[0] === "runtime" || path[0] === "security";
  const key = String(path.at(-1));
  if (!isAboutBoxes || !closed.has(key.toLowerCase().replaceAll("-", "_"))) return undefined;
  return {
    code: "E072",
    path,
    at: "key",
    message: `There is no ${quote(key)}: the baseline of a box is never removed.`,
    hint: "Remove it; one device, capability or directory can be added under [security.exceptions.<name>], with a reason.",
  };
}

type Issue = z.core.$ZodIssue;

/** Unknown keys of one table that are named one by one. */
export const maxUnknownKeys = 20;
/** A longer word is hardly a typing mistake, and comparing costs time. */
const maxSuggestedLength = 40;

/** The keys a table at this path may have. */
export type KnownKeys = (path: Path) => readonly string[];

/** The schema's problems with a value, each with a code, a sentence and a hint. */
export function schemaProblems(issues: readonly Issue[], root: unknown, knownKeys: KnownKeys): Problem[] {
  return issues.flatMap((issue) => fromIssue(issue, issue.path as Path, root, knownKeys));
}

function fromIssue(issue: Issue, path: Path, root: unknown, knownKeys: KnownKeys): Problem[] {
  const value = valueAt(root, path);
  if (isTextRule(issue.message)) return [ruleProblem(issue.message, path, value)];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.slice(0, maxUnknownKeys).map((key) => unknownKey([...path, key], knownKeys(path)));
    case "invalid_key":
      return issue.issues
        .slice(0, 1)
        .flatMap((inner) => fromIssue(inner, path, root, knownKeys))
        .map((p) => ({ ...p, at: "key" as const }));
    case "invalid_union":
      return fromUnion(issue.errors, path, value, root, knownKeys);
    case "invalid_value":
      return [value === undefined ? missing(path) : notAllowed(path, value, issue.values)];
    case "invalid_type":
      return [value === undefined ? missing(path) : wrongType(path, value, [issue.expected])];
    case "too_small":
      return [outOfRange(path, value, `at least ${issue.minimum}`)];
    case "too_big":
      return [outOfRange(path, value, `at most ${issue.maximum}`)];
    case "invalid_format":
    case "invalid_element":
    case "not_multiple_of":
    case "custom":
    default:
      return [wrongType(path, value, ["another form"])];
  }
}

/** The branch whose basic type fits is what the person meant; where none fits, all of them are named. */
function fromUnion(
  branches: readonly Issue[][],
  path: Path,
  value: unknown,
  root: unknown,
  knownKeys: KnownKeys,
): Problem[] {
  if (value === undefined) return [missing(path)];
  const isOfAnotherType = (issues: readonly Issue[]): boolean =>
    issues.some((issue) => issue.code === "invalid_type" && issue.path.length === 0);
  const meant = branches.find((issues) => issues.length > 0 && !isOfAnotherType(issues));
  if (meant)
    return meant.flatMap((issue) => fromIssue(issue, [...path, ...(issue.path as Path)], root, knownKeys));
  const expected = branches.flatMap((issues) =>
    issues.map((i) => (i.code === "invalid_type" ? i.expected : "another form")),
  );
  return [wrongType(path, value, expected)];
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

export function unknownKey(path: Path, known: readonly string[]): Problem {
  const closed = closedSetting(path);
  if (closed) return closed;
  const key = String(path.at(-1));
  const meant = key.length <= maxSuggestedLength ? suggest(key, known) : undefined;
  return {
    code: "E009",
    path,
    at: "key",
    message: `The key ${quote(key)} is not known${path.length > 1 ? ` in ${formatPath(path.slice(0, -1))}` : ""}.`,
    hint: meant ? `Did you mean "${meant}"?` : `Known here: ${known.join(", ")}.`,
  };
}

const missing = (path: Path): Problem => ({
  code: "E013",
  path,
  at: "key",
  message: `The key "${String(path.at(-1))}" is missing.`,
  hint: `Add ${formatPath(path)}.`,
});

const words: Record<string, string> = {
  object: "a table",
  record: "a table",
  array: "an array",
  string: "a text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
};

function wrongType(path: Path, value: unknown, expected: readonly string[]): Problem {
  const wanted = [...new Set(expected.map((word) => words[word] ?? word))].join(" or ");
  return {
    code: "E011",
    path,
    message: `${formatPath(path)} must be ${wanted}, and is ${quote(value)}.`,
    hint: `Write ${wanted}; see docs/reference/manifest.md.`,
  };
}

function notAllowed(path: Path, value: unknown, allowed: readonly unknown[]): Problem {
  const names = allowed.map(String);
  const meant =
    typeof value === "string" && value.length <= maxSuggestedLength ? suggest(value, names) : undefined;
  return {
    code: typeof value === "string" ? "E012" : "E011",
    path,
    message: `${formatPath(path)} cannot be ${quote(value)}.`,
    hint: meant ? `Did you mean "${meant}"?` : `Choose one of: ${names.join(", ")}.`,
  };
}

const outOfRange = (path: Path, value: unknown, range: string): Problem => ({
  code: "E014",
  path,
  message: `${formatPath(path)} is ${Array.isArray(value) ? `an array of ${value.length}` : typeof value === "string" ? `a text of ${value.length} characters` : quote(value)}, and must be ${range}.`,
  hint: typeof value === "string" ? `Write ${range} characters.` : `Choose a value of ${range}.`,
});

/** Keys whose value is the name of a variable; everywhere else the key is. */
const isNameOfVariable = new Set(["from_host", "key_env", "env"]);

/** Sentences for the checks that scalars.ts names by code. */
const ruleTexts = {
  E015: {
    message: (path: string, value: unknown) => `${path} is ${quote(value)}, which is not a duration.`,
    hint: 'Write a number with a unit, such as "90s", "1h30m" or "5d".',
  },
  E016: {
    message: (path: string, value: unknown) => `${path} is ${quote(value)}, which is not a size.`,
    hint: 'Write a number with a unit, such as "512MiB" or "2GiB".',
  },
  E020: {
    message: (_path: string, value: unknown, key: string) =>
      `${quote(typeof value === "string" && isNameOfVariable.has(key) ? value : key)} cannot be the name of an environment variable.`,
    hint: "Use letters, digits and underscores, and no digit first.",
  },
  E027: {
    message: (_path: string, _value: unknown, key: string) =>
      `${quote(key)} cannot be the name of a service.`,
    hint: "Use up to 32 lower-case letters, digits and hyphens, and a letter first.",
  },
  E038: {
    message: (_path: string, value: unknown) => `${quote(value)} is not an HTTP method.`,
    hint: 'Write methods in capital letters, such as "GET".',
  },
  E039: {
    message: (path: string, value: unknown) => `${path} is ${quote(value)}, which is not a date and time.`,
    hint: 'Write a date, a time and a zone, such as "2030-01-31T12:00:00Z".',
  },
  E041: {
    message: (_path: string, _value: unknown, key: string) =>
      `${quote(key)} cannot be the name of an exception.`,
    hint: "Use up to 32 lower-case letters, digits and hyphens, and a letter first.",
  },
  E046: {
    message: (_path: string, value: unknown, key: string) =>
      `${quote(typeof value === "string" ? value : key)} cannot be the name of a model provider.`,
    hint: "Use up to 32 lower-case letters, digits and hyphens, and a letter first.",
  },
  E056: {
    message: (_path: string, _value: unknown, key: string) => `${quote(key)} cannot be the name of a secret.`,
    hint: "Use up to 32 lower-case letters, digits and hyphens, and a letter first.",
  },
  E057: {
    // SECURITY: without what stands there, because it may be the secret itself and findings go into logs.
    message: (path: string) => `${path} is not the name of a secret in the vault.`,
    hint: 'Write "vault:NAME", and never the value; agentbox vault set NAME asks for that.',
  },
  E051: {
    message: (_path: string, _value: unknown, key: string) =>
      `${quote(key)} cannot be the name of an MCP server.`,
    hint: "Use up to 64 letters, digits, hyphens and underscores, and a letter or digit first.",
  },
  E053: {
    message: (path: string, value: unknown) => `${path} is ${quote(value)}, which is not a version.`,
    hint: 'Write the exact version, such as "2.1.197"; agentbox agents ls shows which there are.',
  },
  E055: {
    message: (_path: string, value: unknown, key: string) =>
      `${quote(key === "header" ? value : key)} cannot be the name of a header.`,
    hint: "Use letters, digits and hyphens.",
  },
  E065: {
    message: (path: string, value: unknown) =>
      `${path} is ${quote(value)}, which is not a reference of an image.`,
    hint: 'Write a name with a tag or a digest, such as "debian:12" or "name@sha256:…".',
  },
  E066: {
    message: (_path: string, value: unknown) => `${quote(value)} cannot be the name of a Debian package.`,
    hint: "Use lower-case letters, digits, plus, minus and dots, as apt does.",
  },
  E067: {
    message: (_path: string, value: unknown) => `${quote(value)} cannot be the name of a feature.`,
    hint: "Use up to 32 lower-case letters, digits and hyphens, and a letter first.",
  },
} as const;
type TextRule = keyof typeof ruleTexts;

const isTextRule = (message: string): message is TextRule => Object.hasOwn(ruleTexts, message);

function ruleProblem(code: TextRule, path: Path, value: unknown): Problem {
  const { message, hint } = ruleTexts[code];
  const key = path.findLast((part) => typeof part === "string") ?? "";
  return { code, path, message: message(formatPath(path), value, key), hint };
}
