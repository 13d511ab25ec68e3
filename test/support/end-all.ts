/** Ends everything in the reverse order of its making, also when one of the ends fails; the first failure is told. */
export async function endAll(...things: readonly (AsyncDisposable | undefined)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const thing of [...things].reverse()) {
    try {
      await thing?.[Symbol.asyncDispose]();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
