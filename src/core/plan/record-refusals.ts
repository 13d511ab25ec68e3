/** Refusals that the audit log has: what was asked for and may not be had, as opposed to what was merely wrong. */
import { type AgentBoxError, toAgentBoxError } from "../../base/errors.ts";
import type { ErrorCode } from "../../base/error-codes.ts";
import type { EventType } from "../../contract/events.ts";
import type { Using } from "../using.ts";

const events: Partial<Record<ErrorCode, EventType>> = {
  "file.foreign": "trust.refused",
  "trust.required": "trust.refused",
  "trust.digest_mismatch": "trust.refused",
  "tool.tampered": "tool.refused",
};

export async function recordRefusals(
  core: Using<"access" | "note">,
  problems: readonly AgentBoxError[],
  route = "createBox",
): Promise<void> {
  for (const { code, facts = {} } of problems) {
    const type = events[code];
    const { isTrusted: _, ...data } = facts;
    if (type !== undefined) await core.note(type, undefined, data);
    else if (code === "policy.unenforceable" && facts["limit"] !== undefined)
      await core.note("limit.refused", undefined, data);
    else if (code === "access.forbidden" && typeof facts["parameter"] === "string")
      core.access.refused("authority", { route, ...(facts as Record<string, string>) });
  }
}

/** Runs a step that may refuse for a reason that the audit log has. */
export async function recorded<T>(core: Using<"access" | "note">, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    await recordRefusals(core, [toAgentBoxError(error)]);
    throw error;
  }
}
