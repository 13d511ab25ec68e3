/** Why a judged request could not be sent or answered, for its record and for the program. */
import { isAgentBoxError } from "../../../base/errors.ts";
import type { DenyReason } from "../../../contract/network/policy.ts";
import type { HoldProblem } from "./held-body.ts";

export interface Failure {
  readonly reason: DenyReason;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  readonly secret?: string | undefined;
}

/** SECURITY: a failure of the scan that is not one of ours has no words for the program, and ends the request too. */
export function misplaced(error: unknown): Failure {
  const reason = "secret_misplaced";
  if (!isAgentBoxError(error, "secret.misplaced")) return { reason };
  const secret = error.facts?.["secret"];
  const named = typeof secret === "string" ? { secret } : {};
  return { reason, detail: error.message, hint: error.hint, ...named };
}

export const notHeld = (problem: HoldProblem): Failure =>
  problem === "no-room"
    ? { reason: "limit" }
    : {
        reason: "secret_unusable",
        detail: "The body is too large to be held, and the credential of this request depends on all of it.",
        hint: "Send it in smaller parts, or let the client send the hash of the body.",
      };
