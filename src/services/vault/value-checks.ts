/** The form of a value of each kind. A value without it is refused, and the refusal never has a part of it. */
import type { z } from "zod";
import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { AwsKey } from "../../contract/secret/aws-key.ts";
import { OAuthTokens } from "../../contract/secret/connection.ts";
import { type SecretKind, maxSecretBytes } from "../../contract/secret/secret.ts";

/** Tells a private key that ssh-add can load by itself from one that is locked with a passphrase, and from no key. */

const armour = /^-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY)-----\r?\n([\s\S]+?)\r?\n-----END \1-----\s*$/;
const openSshMagic = "openssh-key-v1\0";

const noKey: ValueProblem = {
  problem: "is not a private key",
  hint: "It must be a file such as ~/.ssh/id_ed25519, from -----BEGIN to the end of the last line.",
};
const lockedKey: ValueProblem = {
  problem: "is a private key with a passphrase of its own",
  hint: "Take the passphrase off a copy (ssh-keygen -p -f COPY); the vault encrypts it anyway.",
};

function findKeyProblem(value: Buffer): ValueProblem | undefined {
  const [, label, body] = armour.exec(value.toString("latin1").trim()) ?? [];
  if (label === undefined || body === undefined) return noKey;
  if (label === "OPENSSH PRIVATE KEY") return findOpenSshProblem(Buffer.from(body, "base64"));
  // PKCS#8 says it in the label, the older form in a header.
  return label.startsWith("ENCRYPTED ") || /^Proc-Type:.*ENCRYPTED/m.test(body) ? lockedKey : undefined;
}

/** After the magic come the names of the cipher and of the way from passphrase to key. */
function findOpenSshProblem(blob: Buffer): ValueProblem | undefined {
  if (blob.toString("latin1", 0, openSshMagic.length) !== openSshMagic) return noKey;
  const cipher = readString(blob, openSshMagic.length);
  const derivation = cipher && readString(blob, cipher.end);
  if (cipher === undefined || derivation === undefined) return noKey;
  return cipher.text === "none" && derivation.text === "none" ? undefined : lockedKey;
}

function readString(blob: Buffer, at: number): { text: string; end: number } | undefined {
  if (at + 4 > blob.length) return undefined;
  const end = at + 4 + blob.readUInt32BE(at);
  return end > blob.length ? undefined : { text: blob.toString("latin1", at + 4, end), end };
}

/** The fault, in the words that follow "The value". */
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
