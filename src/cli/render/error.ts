import { type ErrorBody, toAgentBoxError } from "../../base/errors.ts";
import { problemsOf } from "../../contract/plan.ts";
import { printable, printableJson } from "../../base/printable.ts";
import type { Screen } from "./screen.ts";

interface ShownFinding {
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint: string;
}

const findingsOf = (body: ErrorBody): readonly ShownFinding[] =>
  body.code === "manifest.invalid" && Array.isArray(body.facts?.["findings"])
    ? (body.facts["findings"] as ShownFinding[])
    : [];

/** The requests that a person is asked to agree to, for `trust.required`. */
export const requestsOf = (error: Pick<ErrorBody, "facts">): readonly string[] =>
  Array.isArray(error.facts?.["requests"]) ? (error.facts["requests"] as unknown[]).map(String) : [];

/** One sentence and one hint on stderr for each problem, or the same as JSON. Never a stack. */
export function showError(screen: Screen, thrown: unknown): void {
  const error = toAgentBoxError(thrown);
  const body = error.toBody();
  if (screen.isJson) {
    screen.note(printableJson(body));
    return;
  }
  for (const problem of problemsOf(error)) showProblem(screen, problem);
}

function showProblem(screen: Screen, body: ErrorBody): void {
  const { red, bold, dim } = screen.errorStyle;
  // SECURITY: messages quote names and paths that a repository or a box has chosen.
  screen.note(`${bold(red(`error[${body.code}]`))}: ${printable(body.message)}`);
  const findings = findingsOf(body);
  // A single one is the message itself.
  for (const finding of findings.length > 1 ? findings : []) {
    screen.note(`  ${finding.line}:${finding.column}  ${finding.code}  ${printable(finding.message)}`);
  }
  if (body.code === "trust.required") {
    for (const request of requestsOf(body)) screen.note(`  • ${printable(request)}`);
  }
  if (body.hint !== undefined) screen.note(`${dim("hint:")} ${printable(body.hint)}`);
}

/**
 * The exit code of a failure. A command that passes on the exit code of what ran in the box keeps its own
 * failures apart, as `env`, `timeout` and container engines do.
 */
export function exitCodeOf(thrown: unknown, passesExitCode: boolean): number {
  const error = toAgentBoxError(thrown);
  if (!passesExitCode) return error.exitCode;
  // As `timeout` ends for a command whose time was over.
  if (error.code === "box.expired") return error.exitCode;
  return error.code.startsWith("exec.") ? error.exitCode : 125;
}
