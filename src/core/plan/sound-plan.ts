import type { BoxSpec, Isolation } from "../../contract/box.ts";
import { refusalOf } from "../../contract/plan.ts";
import type { PlanParts, Using } from "../using.ts";
import { recordYes } from "../trust/grant-trust.ts";
import { type PlanInputs, type SoundPlan, requireSound } from "./box-plan.ts";
import { findEnforceable } from "./find-enforceable.ts";
import { planFor } from "./plan-box.ts";
import { recordRefusals } from "./record-refusals.ts";

/**
 * The plan to make something from. Throws all of its problems at once, and records those that the audit log has. A yes
 * that came with the request is recorded, too.
 */
export async function soundPlan(
  core: Using<PlanParts | "access" | "clock" | "commit" | "event" | "note">,
  inputs: PlanInputs,
): Promise<SoundPlan> {
  const plan = await planFor(core, inputs);
  await recordRefusals(core, plan.problems);
  const sound = requireSound(plan);
  if (sound.trust?.isTrusted === false) await recordYes(core, sound.trust);
  return sound;
}

/** The guarantees of a runtime for an existing box; refused where it cannot uphold them. */
export async function requireEnforceable(
  core: Using<"access" | "note" | "runtimes" | "storage">,
  spec: BoxSpec,
): Promise<Isolation> {
  const { isolation, problems } = await findEnforceable(core, spec);
  await recordRefusals(core, problems);
  if (isolation === undefined || problems.length > 0) throw refusalOf(problems);
  return isolation;
}
