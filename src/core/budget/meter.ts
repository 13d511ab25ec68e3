/** The scope of a limit: a set of requests, and the name its totals go by. */
import type { Box } from "../../contract/box.ts";
import type { BudgetLimit, BudgetScope } from "../../contract/model/budget.ts";
import type { NewModelRecord } from "../../contract/model/usage.ts";
import type { ModelQuery } from "../../ports/store.ts";

export interface Meter {
  readonly key: string;
  readonly query: ModelQuery;
}

/** Where a request comes from: all that decides which meters it counts for. */
export type Origin = Pick<NewModelRecord, "atMs" | "box" | "incarnation" | "run" | "agent" | "projectDir">;

const dayMs = 86_400_000;

/**
 * A run is one task of the box's agent, however often it was started for it. SECURITY: not one start of the box, because
 * an agent that is restarted when it crashes could crash itself into a new budget.
 */
export const runOf = (box: Box): number => box.run?.turns ?? 0;

/** The meter of a limit in the specification of `holder`. */
export const meterOf = (limit: BudgetLimit, holder: Box, nowMs: number): Meter =>
  meters[limit.scope](holder, limit, nowMs);

const meters: Readonly<Record<BudgetScope, (holder: Box, limit: BudgetLimit, nowMs: number) => Meter>> = {
  run: (box) => ({
    key: `run ${box.incarnation} ${runOf(box)}`,
    query: { box: box.name, incarnation: box.incarnation, run: runOf(box) },
  }),
  box: ({ name, incarnation }) => ({ key: `box ${incarnation}`, query: { box: name, incarnation } }),
  day: ({ projectDir }, { layer }, nowMs) => {
    const fromMs = nowMs - (nowMs % dayMs);
    const day = new Date(fromMs).toISOString().slice(0, 10);
    const query = { fromMs, toMs: fromMs + dayMs };
    return layer === "project" && projectDir !== undefined
      ? { key: `day ${day} ${projectDir}`, query: { ...query, projectDir } }
      : { key: `day ${day}`, query };
  },
  // Since the root was made: an older tree of the same name is another tree.
  tree: ({ name, incarnation, createdAtMs }) => ({
    key: `tree ${incarnation}`,
    query: { tree: name, fromMs: createdAtMs },
  }),
};

/** Whether a request counts for what the query means; the same answer as the store gives. */
export function covers(query: ModelQuery, origin: Origin): boolean {
  const { tree, fromMs = -Infinity, toMs = Infinity } = query;
  const isSame = (["box", "incarnation", "run", "agent", "projectDir"] as const).every(
    (key) => query[key] === undefined || origin[key] === query[key],
  );
  const isInTree = tree === undefined || origin.box === tree || origin.box.startsWith(`${tree}-`);
  return isSame && isInTree && origin.atMs >= fromMs && origin.atMs < toMs;
}
