import { AgentBoxError } from "./errors.ts";

/**
 * Asks until the answer is there, and fails with what was waited for. For what has no event to wait for, such as the end
 * of another program's process: conformance cases and tests, which are all that waits in this way.
 */
export async function waitFor<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 15_000,
): Promise<T> {
  const begun = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waitedMs = performance.now() - begun;
    if (waitedMs > timeoutMs)
      throw new AgentBoxError("request.timed_out", `Waited ${timeoutMs} ms in vain: ${what}.`);
    // A tenth of the time so far: asking is work, for the program that is waited for as well.
    await new Promise((resolve) => setTimeout(resolve, Math.min(50, Math.max(5, waitedMs / 10))));
  }
}
