/** The hosts of a secret as people write them: "host", "*.host", either with ":port", "http://host:port", "user@host". */
import { omitUndefined } from "../../base/omit-undefined.ts";
import { modelHost } from "../model/api.ts";
import { ownDomain } from "../network/host-name.ts";
import { type HostPatternProblem, parseHostPattern } from "../network/host-pattern.ts";
import type { HostPattern } from "../network/policy.ts";
import type { SecretDestination, SshDestination } from "./binding.ts";

export type WebHost = Pick<SecretDestination, "scheme" | "host" | "port">;

const userPattern = /^[A-Za-z_][A-Za-z0-9._-]{0,31}$/;
/** An address of the local network that an exception has given a name. */
const exceptionPattern = new RegExp(
  `^([a-z][a-z0-9-]{0,31}\\.${ownDomain.replaceAll(".", "\\.")})(?::(\\d+))?$`,
);

export function parseWebHost(text: string): WebHost | HostPatternProblem {
  const isClear = text.startsWith("http://");
  const parsed = parseName(isClear ? text.slice("http://".length) : text);
  if ("problem" in parsed) return parsed;
  const { pattern: host, port } = parsed;
  if (!isClear) return { scheme: "https", host, port: port ?? 443 };
  // SECURITY: without TLS the value can be read on the way, so it is one server that a person has named in full.
  if (host.isWildcard) return unreadable("a wildcard has no place where nothing is encrypted", clearHint);
  if (port === undefined) return unreadable("plain http needs a port", clearHint);
  return { scheme: "http", host, port };
}

export function parseSshHost(text: string): SshDestination | HostPatternProblem {
  const at = text.indexOf("@");
  const user = at === -1 ? undefined : text.slice(0, at);
  if (user !== undefined && !userPattern.test(user)) return unreadable("its user is no name", sshHint);
  const parsed = parseName(text.slice(at + 1));
  if ("problem" in parsed) return parsed;
  const { pattern: host, port = 22 } = parsed;
  // A session is bound to the key of one server, and a pattern has none.
  if (host.isWildcard) return unreadable("a key signs in to servers by name", sshHint);
  return { host: host.name, port, ...omitUndefined({ user }) };
}

function parseName(text: string): { pattern: HostPattern; port?: number | undefined } | HostPatternProblem {
  const [, name, digits] = exceptionPattern.exec(text) ?? [];
  // SECURITY: the model gateway is reached under such a name, and has keys and rules of its own.
  if (name === undefined || name === modelHost) return parseHostPattern(text);
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return unreadable("it has no such port", clearHint);
  return { pattern: { name, isWildcard: false }, ...omitUndefined({ port }) };
}

const clearHint = 'Write it like "http://wiki.agentbox.internal:8080", with the port.';
const sshHint = 'Write it like "git@git.example.org" or "git@git.example.org:2222".';

const unreadable = (reason: string, hint: string): HostPatternProblem => ({
  problem: "unreadable",
  reason,
  hint,
});
