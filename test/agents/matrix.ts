/** The table that a run of the tests ends with: which agent did what. A cell is one test or several. */
import { it } from "vitest";

export type Column = "headless" | "interactive" | "resume" | "budget" | "no stray hosts";

declare module "vitest" {
  interface TaskMeta {
    matrix?: { readonly agent: string; readonly column: Column };
  }
}

/** Tests of one agent; the reporter finds the cell in the test's own record. */
export const cellsOf =
  (agent: string) =>
  (column: Column, title: string, body: () => Promise<void>): void =>
    it(`${column}: ${title}`, { meta: { matrix: { agent, column } }, timeout: 120_000 }, body);
