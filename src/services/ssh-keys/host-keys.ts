/**
 * Host keys of a server in this host's own known_hosts files. A server without an entry is unknown: the network is not
 * asked.
 */
import { access } from "node:fs/promises";
import { AgentBoxError } from "../../base/errors.ts";
import type { SshDestination } from "../../contract/secret/binding.ts";
import { run } from "../../host/run.ts";

export interface HostKey {
  readonly type: string;
  readonly base64: string;
}

// SECURITY: no pattern, no `>` that makes two hops, no `@` that makes a user, and nothing that begins like an option.
const hostForm = /^[a-z0-9]([a-z0-9.:_-]{0,253}[a-z0-9])?$/;
const userForm = /^[a-z0-9_][a-z0-9._-]{0,63}$/i;

export const isSafeDestination = ({ host, user }: SshDestination): boolean =>
  hostForm.test(host.toLowerCase()) && (user === undefined || userForm.test(user));

/** As known_hosts files name a server. */
export const knownName = ({ host, port }: SshDestination): string =>
  port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;

/** As ssh-add's `-h` takes it. */
export const destination = (destination: SshDestination): string =>
  destination.user === undefined ? knownName(destination) : `${destination.user}@${knownName(destination)}`;

export async function findHostKeys(
  destination: SshDestination,
  files: readonly string[],
): Promise<readonly HostKey[]> {
  if (!isSafeDestination(destination)) return [];
  const found = new Map<string, HostKey>();
  const revoked = new Set<string>();
  for (const file of files) {
    if (!(await exists(file))) continue;
    for (const line of parseKnownHosts(await search(destination, file))) {
      if (line.marker === undefined) found.set(line.base64, { type: line.type, base64: line.base64 });
      else if (line.marker === "@revoked") revoked.add(line.base64);
    }
  }
  return [...found.values()].filter(({ base64 }) => !revoked.has(base64));
}

/** Without the program no server is known, but a box that has a key bound still starts. */
const search = (destination: SshDestination, file: string): Promise<string> =>
  run(["ssh-keygen", "-F", knownName(destination), "-f", file], { timeoutMs: 10_000 }).then(
    ({ stdout }) => stdout,
    () => "",
  );

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

const lineForm =
  /^(?:(?<marker>@\S+)[ \t]+)?(?!#|@)\S+[ \t]+(?<type>[a-z0-9@.-]+)[ \t]+(?<base64>[A-Za-z0-9+/]+={0,2})(?:[ \t]|$)/;

interface KnownHostsLine extends HostKey {
  readonly marker: string | undefined;
}

export function parseKnownHosts(text: string): readonly KnownHostsLine[] {
  return text.split("\n").flatMap((line) => {
    const { marker, type, base64 } = lineForm.exec(line.trim())?.groups ?? {};
    return type === undefined || base64 === undefined ? [] : [{ marker, type, base64 }];
  });
}

export const unknownServer = (destination: SshDestination): AgentBoxError => {
  const { host, port } = destination;
  return isSafeDestination(destination)
    ? new AgentBoxError("secret.unavailable", `This host knows no host key of ${knownName(destination)}.`, {
        hint: `Run ssh-keyscan -p ${port} ${host}, compare what it says with what the server's owner publishes, and add it to ~/.ssh/known_hosts.`,
      })
    : new AgentBoxError(
        "secret.unavailable",
        "The name of the server or user is not one that a key can be bound to.",
        {
          hint: "Write it as git@git.example.org, without patterns.",
        },
      );
};
