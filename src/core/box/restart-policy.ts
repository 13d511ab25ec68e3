import { backoffMs } from "../../base/backoff.ts";
import type { Box, RestartPolicy } from "../../contract/box.ts";

/** A run of at least this long counts as healthy: the next failure starts counting anew. */
const healthyRunMs = 60_000;
const maxRestartsInARow = 5;

export type RestartDecision =
  | { readonly action: "restart"; readonly afterMs: number; readonly restarts: number }
  | { readonly action: "stop"; readonly reason: "finished" | "died" | "restart_limit" };

/** Whether a box whose main session or supervisor has ended comes back. Pure. */
export function decideRestart(
  box: Pick<Box, "restarts" | "startedAtMs">,
  policy: RestartPolicy,
  end: { readonly exitCode: number | undefined; readonly isDeath: boolean; readonly nowMs: number },
): RestartDecision {
  const wanted = policy === "always" || (policy === "on-failure" && (end.isDeath || end.exitCode !== 0));
  if (!wanted) return { action: "stop", reason: end.isDeath ? "died" : "finished" };
  const ranMs = end.nowMs - (box.startedAtMs ?? end.nowMs);
  const inARow = ranMs >= healthyRunMs ? 0 : box.restarts;
  if (inARow >= maxRestartsInARow) return { action: "stop", reason: "restart_limit" };
  return {
    action: "restart",
    afterMs: backoffMs(inARow, { firstMs: 500, maxMs: 30_000 }),
    restarts: inARow + 1,
  };
}
