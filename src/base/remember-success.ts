/**
 * Does something once and shares the result, also with callers that come while it is under way. A failure is not kept:
 * what was missing may be there the next time.
 */
export function rememberSuccess<T>(load: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined;
  return () => {
    if (known === undefined) {
      const loading = load();
      known = loading;
      loading.catch(() => {
        if (known === loading) known = undefined;
      });
    }
    return known;
  };
}
