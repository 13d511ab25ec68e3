import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { BoxSpec, Isolation } from "../../contract/box.ts";
import { describeException, needsEngine } from "../../contract/exception-words.ts";
import { isAtLeast } from "./choose-runtime.ts";

/**
 * Refuses before anything is made a tier below the one that was asked for, and what only a runtime with an engine can
 * do. The driver refuses the latter again.
 */
export function requireSupported(
  spec: Pick<BoxSpec, "runtime" | "tier" | "image" | "packages" | "exceptions">,
  tier: Isolation["tier"],
): void {
  if (spec.tier !== undefined && !isAtLeast(tier, spec.tier)) {
    throw new AgentBoxError(
      "policy.unenforceable",
      `The runtime "${spec.runtime}" has the isolation tier ${tier}, and ${spec.tier} was asked for.`,
      {
        hint: "Use a runtime that has it; agentbox doctor shows which are ready.",
        facts: { runtime: spec.runtime, tier, asked: spec.tier },
      },
    );
  }
  if (isAtLeast(tier, "container")) return;
  const exception = (spec.exceptions ?? []).find(needsEngine);
  const gap =
    exception !== undefined
      ? `let a box ${describeException(exception)}`
      : spec.image !== undefined
        ? `make a box from the image ${spec.image}`
        : spec.packages !== undefined
          ? "make a box with packages of its own"
          : undefined;
  if (gap === undefined) return;
  throw new AgentBoxError("runtime.unsupported", `The runtime "${spec.runtime}" cannot ${gap}.`, {
    hint: "Use a container runtime: --runtime docker",
    facts: { runtime: spec.runtime, ...omitUndefined({ exception: exception?.name }) },
  });
}
