/** What a binding allows, in words that people agree to. Pure. */
import { printable } from "../../base/printable.ts";
import { formatHostPattern } from "../network/host-pattern.ts";
import type { SecretBinding, SecretPlace, SshPlace } from "./binding.ts";
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
    return `as an ssh key for ${use.places.map(sshPlaceText).join(", ")}${confirmed}`;
  }
  const ways = new Map<string, string[]>();
  for (const place of use.places) {
    const way = wayText(place.as);
    ways.set(way, [...(ways.get(way) ?? []), ...placeTexts(place)]);
  }
  return [...ways].map(([way, places]) => `${way} for ${places.join(", ")}`).join("; ");
}

/** Hosts of a use, each once, as people write them. */
export function hostsOf(use: SecretBinding["use"]): string[] {
  if (use.kind === "ssh") return [...new Set(use.places.map(sshPlaceText))];
  return use.kind === "inject" ? [...new Set(use.places.map(hostText))] : [];
}

/** In which ways it is used, each once. */
export function waysOf(use: SecretBinding["use"]): string[] {
  if (use.kind === "ssh") return [use.confirm ? "ssh key, confirmed each time" : "ssh key"];
  return use.kind === "inject" ? [...new Set(use.places.map(({ as }) => wayText(as)))] : [];
}

function wayText(as: SecretPlace["as"]): string {
  if (as.kind === "bearer") return "as a bearer token";
  if (as.kind === "basic") return `as the password of ${as.username === "" ? "nobody" : as.username}`;
  if (as.kind === "header") return `in the header ${as.name}`;
  return as.kind === "query" ? `in the query as ${as.name}` : "as an AWS signature";
}

function placeTexts(place: SecretPlace): string[] {
  const methods = place.methods.length === 0 ? "" : `${place.methods.join(", ")} `;
  const host = `${place.scheme}://${hostText(place)}`;
  if (isGit(place.paths)) return [`${methods}git at ${host}`];
  return place.paths.length === 0
    ? [`${methods}${host}`]
    : place.paths.map((path) => `${methods}${host}${path}`);
}

/** The known paths have a known name; any other list is shown as it is. */
const isGit = (paths: readonly string[]): boolean =>
  paths.length === gitPaths.length && paths.every((path, i) => path === gitPaths[i]);

const hostText = ({ scheme, host, address, port }: SecretPlace): string => {
  const name = `${formatHostPattern(host)}${scheme === "https" && port === 443 ? "" : `:${port}`}`;
  return address === undefined ? name : `${name} (at ${address})`;
};

const sshPlaceText = ({ host, port, user }: SshPlace): string =>
  `${user === undefined ? "" : `${user}@`}${host}${port === 22 ? "" : `:${port}`}`;
