/** Problems of a plan that can be solved on the way: by a person's yes, an installation or a build. Loads no schema. */
import { type ErrorBody, AgentBoxError } from "../base/errors.ts";
import type { ErrorCode } from "../base/error-codes.ts";

/** In the order in which they are solved: a person agrees before anything is fetched, and an image needs its agent. */
const remediable: readonly ErrorCode[] = ["trust.required", "tool.not_installed", "image.not_built"];

export const isRemediable = ({ code }: { readonly code: string }): boolean =>
  remediable.some((one) => one === code);

/** Every problem of a refusal; an error without a list is its own only one. */
export const problemsOf = (error: AgentBoxError): readonly ErrorBody[] => error.problems ?? [error.toBody()];

/**
 * Problems that cannot be solved on the way come first, so that nothing is agreed to, fetched or built in vain.
 */
export function inOrder<T extends { readonly code: ErrorCode }>(problems: readonly T[]): T[] {
  const rank = ({ code }: T): number => remediable.indexOf(code);
  return [...problems].sort((a, b) => rank(a) - rank(b));
}

/** One error for all of them: its code and sentence are those of the first. */
export function refusalOf(problems: readonly AgentBoxError[]): AgentBoxError {
  const [first, ...more] = inOrder(problems);
  if (first === undefined) throw new TypeError("a refusal needs a problem");
  return new AgentBoxError(first.code, first.message, {
    hint: first.hint,
    facts: first.facts,
    problems: [first, ...more].map((problem) => problem.toBody()),
    cause: first.cause,
  });
}
