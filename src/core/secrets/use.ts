/** What a binding allows: a digest that grants are given for, beside the words that people agree to. Pure. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/digest.ts";
import type { SecretBinding } from "../../contract/secret/binding.ts";

export { useSentence } from "../../contract/secret/use-words.ts";

/** Another place, way, method, path or variable is another use, and another question. */
export function useDigest({ use, env, prefix }: Pick<SecretBinding, "use" | "env" | "prefix">): string {
  return `sha256:${createHash("sha256").update(canonicalJson({ use, env, prefix })).digest("hex")}`;
}
