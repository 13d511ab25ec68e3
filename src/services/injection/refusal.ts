/** Why a secret does not go into a request, in one sentence and a hint. A value is never in either. */
import { type AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import type { SecretDenial } from "../../contract/network/policy.ts";
import type { SecretBinding } from "../../contract/secret/binding.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { Prepared } from "../../ports/injection.ts";

export type Refusal = Extract<Prepared, { outcome: "refuse" }>;

const refuse = (
  reason: SecretDenial,
  secret: string | undefined,
  message: string,
  hint: string,
): Refusal => ({
  outcome: "refuse",
  reason,
  secret,
  message,
  hint,
});

export const misplaced = (secret: string | undefined, message: string, hint: string): Refusal =>
  refuse("secret_misplaced", secret, message, hint);

/** `where` ends the sentence, such as "in the path". */
export const misplacedIn = (where: string, secret: string): Refusal =>
  misplaced(
    secret,
    `The placeholder of the secret ${secret} is ${where}, where it is not replaced.`,
    "Send it as a token in an Authorization header, to a host that the secret is bound to in [secrets].",
  );

export const foreign = (where: string, secret: string | undefined): Refusal =>
  refuse(
    "foreign_credential",
    secret,
    `The request has a credential of its own (${where}), and the host is one whose credentials the host's owner gives.`,
    "Send the placeholder, or no credential at all: the gate puts in the one that was granted.",
  );

/** `what` is a header or a parameter, such as "the header authorization". */
export const doubled = (what: string, secret: string | undefined): Refusal =>
  refuse(
    "foreign_credential",
    secret,
    `The request has ${what} more than once, so a server could take either.`,
    "Send one credential, in one place.",
  );

export const unusable = (secret: string, message: string, hint: string): Refusal =>
  refuse("secret_unusable", secret, message, hint);

export const notGranted = ({ secret }: SecretBinding, box: GateBox): Refusal =>
  refuse(
    "secret_not_granted",
    secret,
    `No person has agreed that the box ${box.name} uses the secret ${secret} here.`,
    `Run: agentbox vault grant ${secret} --box ${box.name}`,
  );

/** SECURITY: only our own errors are repeated; any other message may hold what it was made from. */
export function unavailable(secret: string, error: unknown): Refusal {
  const own: AgentBoxError | undefined = isAgentBoxError(error) ? error : undefined;
  return refuse(
    "secret_unavailable",
    secret,
    own?.message ?? `The secret ${secret} could not be had.`,
    own?.hint ?? `Run: agentbox vault show ${secret}`,
  );
}
