/** The value's way into one request, and what its answer is guarded by. */
import type { Transform } from "node:stream";
import { isAgentBoxError } from "../../base/errors.ts";
import type { OutgoingRequest, Prepared } from "../../ports/injection.ts";
import type { SecretValue } from "../../ports/vault.ts";
import { guardAnswer } from "./answer-guard.ts";
import { type CheckedAwsRequest, signAwsRequest } from "./aws-request.ts";
import { sha256 } from "./aws-signature.ts";
import { type Refusal, misplaced, unusable } from "./refusal.ts";
import type { Wanted } from "./request-decision.ts";
import { injectedHead, withoutCredentials } from "./request-head.ts";
import { parseJson } from "../../base/json.ts";
import { AwsKey } from "../../contract/secret/aws-key.ts";
import type { SecretDestination } from "../../contract/secret/binding.ts";
import type { MaskedValue } from "./value-forms.ts";

/* A value as it can be put into a request, or the reason why it cannot. */

/**
 * Values that a header can hold, and that no server cuts off at its ends. SECURITY: with a line break in it, a value
 * would end the header and begin another one, or another request.
 */
const headerText = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Undefined: it is of another kind, or not what a header can hold. */
function textOf({ kind, bytes }: SecretValue): string | undefined {
  if (kind !== "text" && kind !== "oauth") return undefined;
  const text = bytes.toString("latin1");
  // SECURITY: a token is one word; the whole record of a sign-in would hand the refresh token to the server.
  if (kind === "oauth" && /[{\s]/.test(text)) return undefined;
  return headerText.test(text) ? text : undefined;
}

function awsKeyOf({ kind, bytes }: SecretValue): AwsKey | undefined {
  return kind === "aws" ? AwsKey.safeParse(parseJson(bytes.toString("utf8"))).data : undefined;
}

/** The parts of a value that an answer must not hold. The id of an AWS key is no secret, and tools list it. */
function maskedOf(value: SecretValue, as: SecretDestination["as"]): MaskedValue[] {
  if (value.kind === "aws") {
    const key = awsKeyOf(value);
    return [key?.secretAccessKey, key?.sessionToken].flatMap((text) =>
      text === undefined ? [] : [{ value: text }],
    );
  }
  const username = as.kind === "basic" ? as.username : undefined;
  return [{ value: value.bytes.toString("latin1"), username }];
}

type Values = readonly [current: SecretValue, ...recognised: SecretValue[]];

/** The first value is put in, and none of them may come back. */
export function putValue(
  request: OutgoingRequest,
  wanted: Wanted,
  values: Values,
  body: Transform | undefined,
): Prepared {
  if (wanted.aws !== undefined) return putSignature(request, wanted, wanted.aws, values, body);
  const { binding, destination } = wanted.bound;
  const value = textOf(values[0]);
  if (value === undefined || destination.as.kind === "aws") return cannotBeUsed(binding.secret, values[0]);
  return {
    outcome: "inject",
    secret: binding.secret,
    ...injectedHead(request, wanted.sent, destination.as, value),
    body,
    answer: guardAnswer({
      values: values.flatMap((one) => maskedOf(one, destination.as)),
      method: request.method,
      mayStayPacked: false,
    }),
  };
}

function cannotBeUsed(secret: string, { kind }: SecretValue): Refusal {
  return kind === "text" || kind === "oauth"
    ? unusable(
        secret,
        `The value of the secret ${secret} has characters that a header cannot hold.`,
        `Set it again without line breaks and without spaces at its ends: agentbox vault rotate ${secret}`,
      )
    : unusable(
        secret,
        `The secret ${secret} is of the kind ${kind}, which is not used in this way.`,
        'Use how = "aws" for an AWS key and how = "ssh" for a key of ssh.',
      );
}

function putSignature(
  request: OutgoingRequest,
  { bound, sent }: Wanted,
  checked: CheckedAwsRequest,
  values: Values,
  body: Transform | undefined,
): Prepared {
  const { secret } = bound.binding;
  const key = awsKeyOf(values[0]);
  if (key === undefined)
    return unusable(
      secret,
      `The secret ${secret} is not an AWS key.`,
      `Store it as {"accessKeyId": …, "secretAccessKey": …}: agentbox vault set ${secret} --kind aws`,
    );
  const headers = withoutCredentials(request, sent);
  const masked = values.flatMap((one) => maskedOf(one, bound.destination.as));
  const sign = (payloadHash: string): string[] => {
    const signing = { request, headers, checked, placeholderKey: bound.placeholder.token, secret, key };
    const signed = signAwsRequest(signing, payloadHash);
    // SECURITY: a server that repeats the signature would give the box one that it could send again itself.
    masked.push({ value: signed.signature });
    return signed.headers;
  };
  const inject = {
    outcome: "inject",
    secret,
    path: request.path,
    body,
    // The key was not sent, and what was (a signature, the token of a session) opens nothing without it; so an object
    // may stay packed and come in parts, as its checksums expect it.
    answer: guardAnswer({ values: masked, method: request.method, mayStayPacked: true }),
  } as const;
  if (checked.payloadHash === undefined) return { ...inject, headers, finish: (held) => sign(sha256(held)) };
  try {
    return { ...inject, headers: sign(checked.payloadHash) };
  } catch (error) {
    if (isAgentBoxError(error, "secret.misplaced")) return misplaced(secret, error.message, error.hint ?? "");
    throw error;
  }
}
