import { AgentBoxError, toAgentBoxError } from "../../base/errors.ts";
import { inOrder } from "../../contract/plan.ts";

/** Collects the refusals of several steps, so that all of them can be reported at once. */
export class Problems {
  readonly #found: AgentBoxError[] = [];

  /** A refusal that carries several adds each of them; one that is known already adds nothing. */
  add(thrown: unknown): void {
    const error = toAgentBoxError(thrown);
    const all = error.problems?.map((body) => AgentBoxError.fromBody(body)) ?? [error];
    for (const problem of all) {
      const isKnown = this.#found.some(
        ({ code, message }) => code === problem.code && message === problem.message,
      );
      if (!isKnown) this.#found.push(problem);
    }
  }

  /** The result of a step, or the fallback when the step refuses. */
  try<T, F = undefined>(step: () => T, fallback?: F): T | F {
    try {
      return step();
    } catch (error) {
      this.add(error);
      return fallback as F;
    }
  }

  async attempt<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      this.add(error);
      return undefined;
    }
  }

  /** Problems that cannot be solved on the way come first. */
  get list(): readonly AgentBoxError[] {
    return inOrder(this.#found);
  }
}
