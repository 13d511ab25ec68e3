/**
 * The meaning of a failed request. Only codes of a known form are taken from the service's answer: bodies and
 * descriptions can repeat codes and tokens, and causes would carry them into a log.
 */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import { AgentBoxError } from "../../base/errors.ts";

export interface RequestFailure {
  /** `refused`: the service has said no, and asking again is no use. `unreachable`: it may say yes later. */
  readonly kind: "refused" | "unreachable";
  /** OAuth's name for the error, such as `invalid_grant`. */
  readonly code: string | undefined;
  readonly sentence: string;
}

const codePattern = /^[a-z0-9_.-]{1,64}$/i;
const passing = new Set(["server_error", "temporarily_unavailable", "slow_down"]);

export const isBusy = (status: number): boolean => status >= 500 || status === 429 || status === 408;

export function refusal(code: unknown): RequestFailure {
  const known = typeof code === "string" && codePattern.test(code) ? code : undefined;
  return {
    kind: "refused",
    code: known,
    sentence: `The service refused${known === undefined ? "" : ` (${known})`}.`,
  };
}

export const unreachable = (sentence: string): RequestFailure => ({
  kind: "unreachable",
  code: undefined,
  sentence,
});

export function failureOf(error: unknown): RequestFailure {
  if (error instanceof ResponseBodyError) {
    return isBusy(error.status) || passing.has(error.error)
      ? unreachable("The service cannot answer now.")
      : refusal(error.error);
  }
  if (error instanceof AuthorizationResponseError) return refusal(error.error);
  if (error instanceof WWWAuthenticateChallengeError) return refusal("invalid_client");
  if (error instanceof ClientError) return clientFailure(error.code);
  if (error instanceof AgentBoxError) return unreachable(error.message);
  return unreachable("The service could not be reached.");
}

/** Errors of the library itself, by their codes: their messages are for programmers. */
function clientFailure(code: string | undefined): RequestFailure {
  switch (code) {
    case "OAUTH_TIMEOUT":
      return unreachable("The service did not answer in time.");
    case "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED":
      return refused("What the service calls itself is not the issuer that was asked for.");
    case "OAUTH_JWT_CLAIM_COMPARISON_FAILED":
    case "OAUTH_JWT_TIMESTAMP_CHECK_FAILED":
    case "OAUTH_KEY_SELECTION_FAILED":
      return refused("The service's id token is not valid for this sign-in.");
    case "OAUTH_INVALID_RESPONSE":
      return refused("The service's answer does not belong to this sign-in, or is not valid.");
    case "OAUTH_MISSING_SERVER_METADATA":
      return refused("The service does not offer this kind of sign-in.");
    case undefined:
    default:
      return unreachable("The service's answer could not be understood.");
  }
}

const refused = (sentence: string): RequestFailure => ({ kind: "refused", code: undefined, sentence });

export const signInFailed = ({ sentence }: RequestFailure, hint?: string): AgentBoxError =>
  new AgentBoxError("connection.failed", `The sign-in did not succeed. ${sentence}`, { hint });
