/** Asks until the answer is there. For what has no event to wait for, such as a process of somebody else's ending. */
export async function waitFor<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
