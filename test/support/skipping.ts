import { it, type TestContext } from "vitest";

/** A test that cannot run here is skipped by name, with the reason; `.ci/run` fails when it expected it to run. */
export const itUnless =
  (reason: string | undefined) =>
  (title: string, body: (context: TestContext) => Promise<unknown> | void, timeoutMs?: number): void =>
    it(
      title,
      async (context) => {
        if (reason !== undefined) context.skip(reason);
        await body(context);
      },
      timeoutMs,
    );
