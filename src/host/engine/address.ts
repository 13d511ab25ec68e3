/** Finds the container engine a person means: the named one first, then the usual paths. Contacts no engine. */
import { createHash } from "node:crypto";
import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { readHostEnv, readHostVariable } from "../env.ts";
import { pathKind } from "../files.ts";
import { OrderFiles } from "../ownership.ts";
import { parseSshUrl, type SshAddress } from "./ssh-address.ts";

export interface EngineAddress {
  /** Socket of this host, or undefined for an engine elsewhere. */
  readonly socketPath: string | undefined;
  /** As a person would write it: unix:///run/docker.sock, ssh://user@host. */
  readonly url: string;
  /** Where it is reached by ssh. */
  readonly ssh?: SshAddress | undefined;
  /** Directory of ca.pem, cert.pem and key.pem, for an engine that asks for a certificate. */
  readonly certificates?: string | undefined;
  /** Who named it, for messages: DOCKER_HOST, the context "x", "found". */
  readonly source: string;
}

export interface AddressSources {
  readonly uid: number;
  readonly userHome: string;
  readonly variable: (name: string) => string | undefined;
}

const ownSources = (): AddressSources => {
  const { uid, userHome } = readHostEnv();
  return { uid, userHome, variable: readHostVariable };
};

/** Undefined when no engine is named and none lies in a usual place. */
export async function findEngineAddress(
  sources: AddressSources = ownSources(),
): Promise<EngineAddress | undefined> {
  for (const name of ["AGENTBOX_ENGINE", "DOCKER_HOST"]) {
    const url = sources.variable(name);
    // As with Docker's own client: only for an engine that was named so.
    if (url) return parseEngineUrl(url, name, sources.variable("DOCKER_CERT_PATH"));
  }
  return (await contextAddress(sources)) ?? (await usualAddress(sources));
}

export function parseEngineUrl(url: string, source: string, certificates?: string): EngineAddress {
  if (url.startsWith("unix://")) {
    const socketPath = url.slice("unix://".length);
    if (socketPath.startsWith("/") && !socketPath.includes("\0")) return { socketPath, url, source };
  }
  const ssh = parseSshUrl(url);
  if (ssh !== undefined) return { socketPath: undefined, url, source, ssh };
  if (/^(?:tcp|http|https):\/\/[^\s/]+$/.test(url) && URL.canParse(url))
    return { socketPath: undefined, url, source, ...omitUndefined({ certificates }) };
  throw new AgentBoxError("runtime.broken", `${source} names no container engine: ${JSON.stringify(url)}.`, {
    hint: "Use the form unix:///var/run/docker.sock, tcp://host:port, ssh://user@host or ssh://user@host/path/of/socket.",
  });
}

/** Docker's contexts: `docker context use` writes a name, and the place of an engine under that name's digest. */
async function contextAddress({ userHome, variable }: AddressSources): Promise<EngineAddress | undefined> {
  const directory = variable("DOCKER_CONFIG") ?? join(userHome, ".docker");
  const config = parseJson(await readOwn(join(directory, "config.json")));
  const name = variable("DOCKER_CONTEXT") || config?.["currentContext"];
  if (typeof name !== "string" || name === "" || name === "default") return undefined;
  const digest = createHash("sha256").update(name).digest("hex");
  const meta = parseJson(await readOwn(join(directory, "contexts", "meta", digest, "meta.json")));
  const host = (meta?.["Endpoints"] as { docker?: { Host?: unknown } } | undefined)?.docker?.Host;
  if (typeof host === "string") {
    const certificates = join(directory, "contexts", "tls", digest, "docker");
    const hasOwn = (await pathKind(certificates)) === "dir";
    return parseEngineUrl(host, `the context "${name}"`, hasOwn ? certificates : undefined);
  }
  throw new AgentBoxError("runtime.broken", `There is no Docker context named "${name}".`, {
    hint: "Run: docker context ls",
  });
}

/** SECURITY: its writer chooses the machine that boxes run on. An unreadable file names none. */
const readOwn = (path: string): Promise<string | undefined> =>
  new OrderFiles(readHostEnv())
    .read(path, { maxBytes: 1 << 20, followsLinks: true })
    .catch((error: unknown) => {
      if (isAgentBoxError(error, "file.foreign")) throw error;
      return undefined;
    });

function parseJson(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** An engine of one's own before the machine's: it has less power. */
async function usualAddress({ uid, variable }: AddressSources): Promise<EngineAddress | undefined> {
  const runDir = variable("XDG_RUNTIME_DIR");
  const own = runDir === undefined ? [] : [`${runDir}/docker.sock`, `${runDir}/podman/podman.sock`];
  const machines = ["/var/run/docker.sock", "/run/podman/podman.sock"];
  const candidates = uid === 0 ? machines : [...own, ...machines];
  let closed: string | undefined;
  for (const path of candidates) {
    if (!(await isSocket(path))) continue;
    if (await canOpen(path)) return { socketPath: path, url: `unix://${path}`, source: "found" };
    closed ??= path;
  }
  // One that is there and closed to this user is worth a better answer than "not found".
  return closed === undefined ? undefined : { socketPath: closed, url: `unix://${closed}`, source: "found" };
}

const isSocket = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isSocket() ?? false;

const canOpen = (path: string): Promise<boolean> =>
  access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
