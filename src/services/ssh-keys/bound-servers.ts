/** The servers that bindings name, with the host keys that this host knows of them, and those it knows none of. */
import type { SecretBinding, SshDestination } from "../../contract/secret/binding.ts";
import { findHostKeys, knownName } from "./host-keys.ts";
import type { KnownServer } from "./sign-decision.ts";

export interface BoundServers {
  readonly known: readonly KnownServer[];
  readonly unknown: readonly { readonly binding: SecretBinding; readonly destination: SshDestination }[];
  /** The known ones as a known_hosts file. */
  readonly lines: string;
}

export async function findServers(
  bindings: readonly SecretBinding[],
  knownHostsFiles: readonly string[],
): Promise<BoundServers> {
  const known: KnownServer[] = [];
  const unknown: { binding: SecretBinding; destination: SshDestination }[] = [];
  const lines = new Set<string>();
  for (const binding of bindings) {
    for (const destination of binding.use.kind === "ssh" ? binding.use.destinations : []) {
      const keys = await findHostKeys(destination, knownHostsFiles);
      if (keys.length === 0) unknown.push({ binding, destination });
      else known.push({ binding, destination, hostKeys: new Set(keys.map(({ base64 }) => base64)) });
      for (const { type, base64 } of keys) lines.add(`${knownName(destination)} ${type} ${base64}\n`);
    }
  }
  return { known, unknown, lines: [...lines].join("") };
}
