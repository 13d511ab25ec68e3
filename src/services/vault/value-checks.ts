/** What a value of each kind looks like. A value that does not is refused, and the refusal never has a part of it. */
import type { z } from "zod";
import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { AwsKey } from "../../contract/secret/aws-key.ts";
import { OAuthTokens } from "../../contract/secret/connection.ts";
import { type SecretKind, maxSecretBytes } from "../../contract/secret/secret.ts";
import { findKeyProblem } from "./ssh-key-form.ts";

/** What is wrong, in the words that follow "The value". */
export interface ValueProblem {
  readonly problem: string;
  readonly hint: string;
}

const finders: Record<SecretKind, (value: Buffer) => ValueProblem | undefined> = {
  text: (value) =>
    value.includes(0)
      ? { problem: "has a NUL byte in it", hint: "A text has none; was it a binary file?" }
      : undefined,
  "ssh-key": findKeyProblem,
  aws: (value) => findJsonProblem(value, AwsKey, "{ accessKeyId, secretAccessKey, sessionToken? }"),
  oauth: (value) => findJsonProblem(value, OAuthTokens, "what a sign-in gives; run: agentbox connect NAME"),
};

export function findValueProblem(kind: SecretKind, value: Buffer): ValueProblem | undefined {
  if (value.length === 0) return { problem: "is empty", hint: "Nothing was read; is it there?" };
  if (value.length > maxSecretBytes) {
    return { problem: `is larger than ${formatBytes(maxSecretBytes)}`, hint: "A secret is a small thing." };
  }
  return finders[kind](value);
}

export function checkValue(name: string, kind: SecretKind, value: Buffer): void {
  const found = findValueProblem(kind, value);
  if (found === undefined) return;
  throw new AgentBoxError("secret.invalid", `The value of "${name}" ${found.problem}.`, { hint: found.hint });
}

function findJsonProblem(value: Buffer, schema: z.ZodObject, form: string): ValueProblem | undefined {
  const hint = `It must be JSON: ${form}.`;
  const parsed = parseJson(value.toString());
  if (parsed === undefined) return { problem: "is not JSON", hint };
  const result = schema.safeParse(parsed);
  if (result.success) return undefined;
  // SECURITY: only names that are the schema's own; what else is in the text may be the secret.
  const fields = result.error.issues.map(({ path }) => path[0]);
  const known = [...new Set(fields)].filter((field) => typeof field === "string" && field in schema.shape);
  return { problem: `does not have the right ${known.join(" and ") || "fields"}`, hint };
}
