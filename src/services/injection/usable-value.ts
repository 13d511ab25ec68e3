/** A value as it can be put into a request, or the reason why it cannot. */
import { parseJson } from "../../base/json.ts";
import { AwsKey } from "../../contract/secret/aws-key.ts";
import type { SecretPlace } from "../../contract/secret/binding.ts";
import type { SecretValue } from "../../ports/vault.ts";
import type { MaskedValue } from "./value-forms.ts";

/**
 * What a header can hold, and what no server cuts off at its ends. SECURITY: with a line break in it, a value would end
 * the header and begin another one, or another request.
 */
const headerText = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Undefined: it is of another kind, or not what a header can hold. */
export function textOf({ kind, bytes }: SecretValue): string | undefined {
  if (kind !== "text" && kind !== "oauth") return undefined;
  const text = bytes.toString("latin1");
  // SECURITY: a token is one word; the whole record of a sign-in would hand the refresh token to the server.
  if (kind === "oauth" && /[{\s]/.test(text)) return undefined;
  return headerText.test(text) ? text : undefined;
}

export function awsKeyOf({ kind, bytes }: SecretValue): AwsKey | undefined {
  return kind === "aws" ? AwsKey.safeParse(parseJson(bytes.toString("utf8"))).data : undefined;
}

/** What of a value an answer must not hold. The id of an AWS key is no secret, and tools list it. */
export function maskedOf(value: SecretValue, as: SecretPlace["as"]): MaskedValue[] {
  if (value.kind === "aws") {
    const key = awsKeyOf(value);
    return [key?.secretAccessKey, key?.sessionToken].flatMap((text) =>
      text === undefined ? [] : [{ value: text }],
    );
  }
  const username = as.kind === "basic" ? as.username : undefined;
  return [{ value: value.bytes.toString("latin1"), username }];
}
