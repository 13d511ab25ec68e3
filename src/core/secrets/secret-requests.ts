/** The requests of a manifest about secrets, one readable sentence each. */
import { printable } from "../../base/printable.ts";
import type { ManifestLayer } from "../../manifest/index.ts";
import type { SecretBinding } from "../../contract/secret/binding.ts";
import { hostsOf, usePhrase, useSentence } from "../../contract/secret/use-words.ts";
import { sourcedSecrets } from "./bindings.ts";

export interface SecretRequest {
  readonly kind: "secret";
  readonly secret: string;
  readonly use: SecretBinding["use"];
  readonly env: readonly string[];
  readonly prefix: string;
  readonly sentence: string;
}

/** In the order of their names, so that moving entries in the file is not another request. */
export function secretRequests(layers: readonly ManifestLayer[]): SecretRequest[] {
  return sourcedSecrets(layers)
    .filter(({ origin }) => origin.source === "manifest")
    .map(({ binding }) => binding)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ secret, use, env, prefix }) => ({
      kind: "secret",
      secret,
      use,
      env,
      prefix,
      sentence: sentenceFor(secret, use),
    }));
}

function sentenceFor(secret: string, use: SecretBinding["use"]): string {
  if (use.kind === "env" || use.kind === "file") return useSentence({ secret, use });
  return printable(`reach ${hostsOf(use).join(", ")} with the secret ${secret} (${usePhrase(use)})`);
}
