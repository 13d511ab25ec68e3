/**
 * The addresses of the local network behind the names of exceptions. SECURITY: a grant for a name alone would hold for
 * any address that a repository gives that name next.
 */
import type { ManifestLayer } from "../../manifest/index.ts";
import { parseExceptionAddress } from "../../contract/network/exception-address.ts";
import { ownDomain } from "../../contract/network/host-name.ts";
import type { SecretUse } from "../../contract/secret/binding.ts";

export interface NamedAddress {
  readonly address: string;
  readonly source: ManifestLayer["source"];
}

/** The first address of a name counts; two addresses for one name make no policy. */
export function namedAddresses(layers: readonly ManifestLayer[]): ReadonlyMap<string, NamedAddress> {
  const named = new Map<string, NamedAddress>();
  for (const { source, values } of layers) {
    for (const [name, { address: text }] of Object.entries(values.network?.exceptions ?? {})) {
      const parsed = parseExceptionAddress(text);
      const host = `${name}.${ownDomain}`;
      if (!("problem" in parsed) && !named.has(host)) named.set(host, { address: parsed.address, source });
    }
  }
  return named;
}

/** The use with the addresses of its exceptions in it, and who named them. */
export function addressedUse(
  use: SecretUse,
  addresses: ReadonlyMap<string, NamedAddress>,
): { readonly use: SecretUse; readonly origins: readonly NamedAddress[] } {
  if (use.kind !== "inject") return { use, origins: [] };
  const found = use.destinations.map(({ host }) => (host.isWildcard ? undefined : addresses.get(host.name)));
  const destinations = use.destinations.map((destination, i) => {
    const address = found[i]?.address;
    return address === undefined ? destination : { ...destination, address };
  });
  return { use: { ...use, destinations }, origins: found.filter((one) => one !== undefined) };
}
