import { describe, it, type TestContext } from "vitest";

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

/** Cases that share what cannot be had here: one skip stands for all of them, because without a reason it is a failure. */
export const describeUnless =
  (reason: string | undefined) =>
  (title: string, cases: () => void): void => {
    describe(title, reason === undefined ? cases : () => itUnless(reason)("all of it", () => undefined));
  };
