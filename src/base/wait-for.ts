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
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline)
      throw new AgentBoxError("request.timed_out", `Waited ${timeoutMs} ms in vain: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
