/** The servers that bindings name, with the host keys that this host knows of them, and those it knows none of. */
import type { SecretBinding, SshPlace } from "../../contract/secret/binding.ts";
import { findHostKeys, knownName } from "./host-keys.ts";
import type { KnownPlace } from "./sign-decision.ts";

export interface BoundPlaces {
  readonly known: readonly KnownPlace[];
  readonly unknown: readonly { readonly binding: SecretBinding; readonly place: SshPlace }[];
  /** The known ones as a known_hosts file. */
  readonly lines: string;
}

export async function findPlaces(
  bindings: readonly SecretBinding[],
  knownHostsFiles: readonly string[],
): Promise<BoundPlaces> {
  const known: KnownPlace[] = [];
  const unknown: { binding: SecretBinding; place: SshPlace }[] = [];
  const lines = new Set<string>();
  for (const binding of bindings) {
    for (const place of binding.use.kind === "ssh" ? binding.use.places : []) {
      const keys = await findHostKeys(place, knownHostsFiles);
      if (keys.length === 0) unknown.push({ binding, place });
      else known.push({ binding, place, hostKeys: new Set(keys.map(({ base64 }) => base64)) });
      for (const { type, base64 } of keys) lines.add(`${knownName(place)} ${type} ${base64}\n`);
    }
  }
  return { known, unknown, lines: [...lines].join("") };
}
