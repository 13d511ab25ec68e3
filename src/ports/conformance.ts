/**
 * Conformance cases are plain data, so that a driver outside this repository can run them in any test runner: for
 * each case, make a context, call `run`, and count what it throws as a failure.
 */
export interface ConformanceCase<Context> {
  readonly name: string;
  /** Abilities the subject must have for the case to mean anything; otherwise it is skipped by name. */
  readonly needs: readonly string[];
  readonly run: (context: Context) => Promise<void>;
}
