import { omitUndefined } from "../../base/omit-undefined.ts";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
import type { Core } from "../context.ts";

/** One line of the list for each box. */
export async function summariseBoxes(
  core: Pick<Core, "facts" | "resources">,
  boxes: readonly Box[],
): Promise<BoxSummary[]> {
  core.resources.asked();
  await core.facts.ready(boxes);
  return boxes.map((box) => ({
    ...summarise(box),
    ...core.facts.of(box),
    ...core.resources.sparks(box),
  }));
}

const summarise = ({
  name,
  state,
  spec,
  projectDir,
  createdAtMs,
  expiresAtMs,
  restarts,
  run,
}: Box): BoxSummary => ({
  name,
  phase: state.phase,
  ...("reason" in state ? { reason: state.reason } : {}),
  ...(state.phase === "stopped" && state.exitCode !== undefined ? { exitCode: state.exitCode } : {}),
  agent: spec.agent.name,
  runtime: spec.runtime,
  ...omitUndefined({ projectDir }),
  createdAtMs,
  sinceMs: state.sinceMs,
  ...omitUndefined({ expiresAtMs }),
  restarts,
  ...omitUndefined({ agentState: run?.state, verdict: run?.verdict }),
});
