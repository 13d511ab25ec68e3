/** The digest of a use of a secret, for which grants are given, beside the words that people agree to. Pure. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/digest.ts";
import { loginSecret } from "../../contract/secret/agent-login.ts";
import type { SecretBinding } from "../../contract/secret/binding.ts";
import { useSentence } from "../../contract/secret/use-words.ts";
import type { AskedUse } from "./secret-grants.ts";

export const askedUse = (binding: SecretBinding): AskedUse => ({
  secret: binding.secret,
  use: useDigest(binding),
  sentence: useSentence(binding),
});

/** A login is used by its agent's model gateway alone, so there is one use of it. */
export const loginUse = (agent: string): AskedUse => ({
  secret: loginSecret(agent),
  use: `login:${agent}`,
  sentence: `ask ${agent}'s models with the login ${loginSecret(agent)}`,
});

/** Another destination, kind, method, path or variable is another use, and another question. */
export function useDigest({ use, env, prefix }: Pick<SecretBinding, "use" | "env" | "prefix">): string {
  return `sha256:${createHash("sha256").update(canonicalJson({ use, env, prefix })).digest("hex")}`;
}
