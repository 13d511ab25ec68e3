import { AgentBoxError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import type { ManifestValues } from "../../manifest/schema.ts";
import { type SecretServiceName, secretServiceNames } from "../../contract/secret/services.ts";

/** `github`, or `github=NAME` for another secret of the vault: a service whose hosts and ways are known. */
export function parseSecrets(texts: readonly string[]): NonNullable<ManifestValues["secrets"]> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      const service = text.slice(0, at === -1 ? text.length : at);
      if (!isService(service)) throw unknownService(service);
      return [service, { service, ...(at === -1 ? {} : { from: `vault:${text.slice(at + 1)}` }) }];
    }),
  );
}

const isService = (name: string): name is SecretServiceName =>
  (secretServiceNames as readonly string[]).includes(name);

function unknownService(name: string): AgentBoxError {
  const meant = suggest(name, secretServiceNames);
  return new AgentBoxError("input.invalid", `--secret ${name.slice(0, 64)} is no service that is known.`, {
    hint: meant
      ? `Did you mean --secret ${meant}?`
      : `Known: ${secretServiceNames.join(", ")}. Others are written into the manifest, with how and hosts: [secrets.NAME]`,
  });
}
