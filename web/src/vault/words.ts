/** The vault's states and errors, in words for people. */
import type { EgressRecord } from "../../../src/contract/network/egress.ts";
import { reasonText } from "../../../src/contract/network/egress-words.ts";
import type { GrantScope } from "../../../src/contract/secret/grant.ts";
import type { SecretInfo } from "../../../src/contract/secret/secret.ts";

export function sourceText({ source }: Pick<SecretInfo, "source">): string {
  if (source.kind === "stored") return "in the vault";
  if (source.kind === "env") return `variable ${source.variable} of the daemon`;
  if (source.kind === "file") return `file ${source.path}`;
  return `command ${source.argv.join(" ")}`;
}

export function scopeText(scope: GrantScope): string {
  if (scope.kind === "box") return `the box ${scope.box}`;
  return scope.kind === "project"
    ? `every box of ${scope.projectDir}`
    : `every box of the agent ${scope.agent}`;
}

export type Outcome = "used" | "refused" | "not sent";

/** A server that could not be reached has refused nothing, and nothing was sent. */
export function outcomeOf({ isInjected, reason }: Pick<EgressRecord, "isInjected" | "reason">): Outcome {
  if (isInjected === true) return "used";
  return reason === "unresolvable" || reason === "unreachable" ? "not sent" : "refused";
}

export const resultText = ({ reason, status }: Pick<EgressRecord, "reason" | "status">): string =>
  reason === undefined ? (status === undefined ? "" : `answered ${status}`) : reasonText(reason);
