/** The use that a binding allows, in words that people agree to. Pure. */
import { printable } from "../../base/printable.ts";
import { formatHostPattern } from "../network/host-pattern.ts";
import type { SecretBinding, SecretDestination, SshDestination } from "./binding.ts";
import { gitPaths } from "./services.ts";

/** One sentence, without a full stop. SECURITY: the vault's name, because a manifest may call it anything. */
export function useSentence({ secret, use }: Pick<SecretBinding, "secret" | "use">): string {
  if (use.kind === "inject" || use.kind === "ssh")
    return printable(`use the secret ${secret} ${usePhrase(use)}`);
  const held = use.kind === "env" ? `the variable ${use.variable}` : `the file ${use.path}`;
  return printable(`give the box the secret ${secret} itself, as ${held}`);
}

/** How and where, for what stays on the host. */
export function usePhrase(use: Extract<SecretBinding["use"], { kind: "inject" | "ssh" }>): string {
  if (use.kind === "ssh") {
    const confirmed = use.confirm ? ", each time with a person's yes" : "";
    return `as an ssh key for ${use.destinations.map(sshDestinationText).join(", ")}${confirmed}`;
  }
  const methods = new Map<string, string[]>();
  for (const destination of use.destinations) {
    const method = wayText(destination.as);
    methods.set(method, [...(methods.get(method) ?? []), ...destinationTexts(destination)]);
  }
  return [...methods].map(([method, targets]) => `${method} for ${targets.join(", ")}`).join("; ");
}

/** Hosts of a use, each once, as people write them. */
export function hostsOf(use: SecretBinding["use"]): string[] {
  if (use.kind === "ssh") return [...new Set(use.destinations.map(sshDestinationText))];
  return use.kind === "inject" ? [...new Set(use.destinations.map(hostText))] : [];
}

/** In which ways it is used, each once. */
export function waysOf(use: SecretBinding["use"]): string[] {
  if (use.kind === "ssh") return [use.confirm ? "ssh key, confirmed each time" : "ssh key"];
  return use.kind === "inject" ? [...new Set(use.destinations.map(({ as }) => wayText(as)))] : [];
}

function wayText(as: SecretDestination["as"]): string {
  if (as.kind === "bearer") return "as a bearer token";
  if (as.kind === "basic") return `as the password of ${as.username === "" ? "nobody" : as.username}`;
  if (as.kind === "header") return `in the header ${as.name}`;
  return as.kind === "query" ? `in the query as ${as.name}` : "as an AWS signature";
}

function destinationTexts(destination: SecretDestination): string[] {
  const methods = destination.methods.length === 0 ? "" : `${destination.methods.join(", ")} `;
  const host = `${destination.scheme}://${hostText(destination)}`;
  if (isGit(destination.paths)) return [`${methods}git at ${host}`];
  return destination.paths.length === 0
    ? [`${methods}${host}`]
    : destination.paths.map((path) => `${methods}${host}${path}`);
}

/** The known paths have a known name; any other list is shown as it is. */
const isGit = (paths: readonly string[]): boolean =>
  paths.length === gitPaths.length && paths.every((path, i) => path === gitPaths[i]);

const hostText = ({ scheme, host, address, port }: SecretDestination): string => {
  const name = `${formatHostPattern(host)}${scheme === "https" && port === 443 ? "" : `:${port}`}`;
  return address === undefined ? name : `${name} (at ${address})`;
};

const sshDestinationText = ({ host, port, user }: SshDestination): string =>
  `${user === undefined ? "" : `${user}@`}${host}${port === 22 ? "" : `:${port}`}`;
