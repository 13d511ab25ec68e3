import { printable } from "../base/printable.ts";
import { type Path, formatPath } from "./path.ts";
import type { TomlPositions } from "./toml/toml-positions.ts";
import type { RuleCode } from "./checks/rules.ts";

/** One thing that is wrong with a manifest, with its position in the file. */
export interface Finding {
  readonly code: RuleCode;
  readonly severity: "error" | "warning";
  /** Such as `services.web.ready.port` or `mounts[0].target`; empty for the file as a whole. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  /** One sentence: what is wrong, with the value. */
  readonly message: string;
  /** One sentence: what to do. */
  readonly hint: string;
}

/** A finding before it is looked up where in the file its path is. */
export interface Problem {
  readonly code: RuleCode;
  readonly path: Path;
  readonly message: string;
  readonly hint: string;
  /** Whether the key or its value is wrong; the value by default. */
  readonly at?: "key" | "value";
}

/** More would not help, and a hostile file could make millions. */
const maxFindings = 100;

const severityOf = (code: RuleCode): Finding["severity"] => (code.startsWith("E") ? "error" : "warning");

export function positionProblem(problem: Problem, positions: TomlPositions): Finding {
  const { line, column } = positions.find(problem.path, problem.at ?? "value");
  return {
    code: problem.code,
    severity: severityOf(problem.code),
    path: printable(formatPath(problem.path)),
    line,
    column,
    message: printable(problem.message),
    hint: printable(problem.hint),
  };
}

/** By position, each once; errors before warnings where not all can be kept. */
export function orderFindings(findings: readonly Finding[]): Finding[] {
  const unique = new Map(findings.map((f) => [`${f.code} ${f.line} ${f.column} ${f.path}`, f]));
  const bySeverity = [...unique.values()].sort((a, b) => rank(a) - rank(b));
  return bySeverity
    .slice(0, maxFindings)
    .sort((a, b) => a.line - b.line || a.column - b.column || rank(a) - rank(b));
}

const rank = (finding: Finding): number => (finding.severity === "error" ? 0 : 1);

export const hasErrors = (findings: readonly Finding[]): boolean =>
  findings.some((f) => f.severity === "error");

const shown = 60;

/** A value from the file, short enough for one sentence. */
export function quote(value: unknown): string {
  if (typeof value === "string") return `"${value.length > shown ? `${value.slice(0, shown)}…` : value}"`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "an array" : value instanceof Date ? "a date" : "a table";
}
