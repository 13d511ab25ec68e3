/**
 * A request to AWS, signed by the program with the placeholder, is signed again with the real key for the same date,
 * region and service. The key itself never leaves the host.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { AwsKey } from "../../contract/secret/aws-key.ts";
import type { OutgoingRequest } from "../../ports/injection.ts";
import type { AwsAuthorization } from "./aws-authorization.ts";
import { type SignedRequest, sha256, signAgain } from "./aws-signature.ts";
import { type Refusal, misplaced } from "./refusal.ts";

/** As far as AWS itself lets clocks differ. */
const maxSkewMs = 15 * 60_000;
const passedHashes = new Set(["UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"]);

export interface CheckedAwsRequest {
  readonly authorization: AwsAuthorization;
  readonly dateTime: string;
  /** Undefined: of the body, which must be held until it is whole. */
  readonly payloadHash: string | undefined;
}

/** The part of it that is known before there is a key. */
export function checkAwsRequest(
  request: OutgoingRequest,
  authorization: AwsAuthorization | undefined,
  secret: string,
  nowMs: number,
): CheckedAwsRequest | Refusal {
  if (authorization === undefined)
    return misplaced(
      secret,
      "The request is not signed, and the key for this place is only used to sign.",
      "Use a program that signs with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as the box has them, and not a presigned URL.",
    );
  const dateTime = single(request.headers, "x-amz-date") ?? "";
  // SECURITY: a server could repeat a signature for a later day, and all who have seen it could use it then.
  if (
    !dateTime.startsWith(authorization.date) ||
    Math.abs(timeOf(dateTime) - nowMs) > maxSkewMs ||
    Number.isNaN(timeOf(dateTime))
  )
    return misplaced(
      secret,
      "The request is not signed for now.",
      "Send X-Amz-Date with the time of the request, in the form 20260131T120000Z.",
    );
  if (!authorization.signedHeaders.includes("host"))
    return misplaced(secret, "The request's signature does not cover the host.", "Sign the Host header too.");
  const hash = single(request.headers, "x-amz-content-sha256");
  if (hash === undefined)
    return { authorization, dateTime, payloadHash: request.hasBody ? undefined : sha256("") };
  if (/^[0-9a-f]{64}$/.test(hash) || passedHashes.has(hash))
    return { authorization, dateTime, payloadHash: hash };
  return misplaced(
    secret,
    "The request signs each piece of its body, which cannot be done again here.",
    "Let the program send an unsigned payload (it is inside TLS), such as with payload_signing_enabled = false.",
  );
}

function single(headers: readonly string[], name: string): string | undefined {
  const at = headers.findIndex((header, i) => i % 2 === 0 && header.toLowerCase() === name);
  return at < 0 ? undefined : headers[at + 1]!.trim();
}

function timeOf(dateTime: string): number {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(dateTime) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

export interface AwsSigning {
  readonly request: OutgoingRequest;
  /** Without Authorization. */
  readonly headers: readonly string[];
  readonly checked: CheckedAwsRequest;
  readonly placeholderKey: string;
  readonly secret: string;
  readonly key: AwsKey;
}

/** Fails with `secret.misplaced` when the program signed with something else. */
export function signAwsRequest(
  { request, headers, checked, placeholderKey, secret, key }: AwsSigning,
  payloadHash: string,
): { readonly headers: string[]; readonly signature: string } {
  const { method, path, host, port } = request;
  const signed: SignedRequest = {
    method,
    path,
    hosts: [host, `${host}:${port}`],
    headers,
    dateTime: checked.dateTime,
    payloadHash,
  };
  const again = signAgain(signed, checked.authorization, placeholderKey, key);
  if (again !== undefined) return again;
  throw new AgentBoxError("secret.misplaced", "The request's signature was not made with the placeholder.", {
    hint: "Use AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as the box has them, and send what was signed.",
    facts: { secret },
  });
}
