/** The door to a container engine: found, asked who it is, and refused with a reason where it cannot serve. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import Docker, { type DockerOptions } from "dockerode";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { type EngineAddress, findEngineAddress } from "./address.ts";
import { type InstalledEngine, installedEngines } from "./installed-engines.ts";
import { type EngineAnswers, engineFacts, type EngineFacts, isOlderApi, oldestApi } from "./facts.ts";
import type { SshAddress } from "./ssh-address.ts";
import { SshAgent } from "./ssh-tunnel.ts";

export type { EngineAddress } from "./address.ts";
export type { EngineFacts } from "./facts.ts";

export interface Engine {
  readonly client: Docker;
  readonly address: EngineAddress;
  readonly facts: EngineFacts;
}

export interface EngineOptions {
  /** In place of looking for one. */
  readonly address?: EngineAddress | undefined;
}

/** Beyond the time that ssh is given to connect. */
const answerTimeoutMs = 20_000;

export async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  const address = options.address ?? (await findEngineAddress());
  if (address === undefined) {
    throw absentEngine(await installedEngines());
  }
  try {
    const client = await connect(address);
    const [version, info] = await withinTime(
      Promise.all([client.version(), client.info() as Promise<unknown>]),
    );
    const facts = engineFacts({ version, info } as EngineAnswers);
    refuseOld(facts, address);
    return { client, address, facts };
  } catch (error) {
    throw explainEngineError(error, address);
  }
}

/** One that is installed and does not run is started, and not installed again. */
export function absentEngine(installed: readonly InstalledEngine[]): AgentBoxError {
  if (installed.length === 0) {
    return new AgentBoxError("runtime.absent", "No container engine was found on this host.", {
      hint: "Install one (apt-get install docker.io, or podman) and start it, or name it in DOCKER_HOST.",
    });
  }
  const names = installed.map(({ name }) => name).join(" and ");
  const verb = installed.length === 1 ? "is" : "are";
  return new AgentBoxError(
    "runtime.absent",
    `${names} ${verb} installed, and no engine answers: there is no socket.`,
    {
      hint: `Start one: ${installed.map(({ start }) => start).join(", or ")}; or name one in DOCKER_HOST.`,
    },
  );
}

/** Whether the engine is there now; quicker than opening it anew. */
export async function isEngineAnswering(options: EngineOptions = {}): Promise<boolean> {
  const address = options.address ?? (await findEngineAddress().catch(() => undefined));
  if (address === undefined) return false;
  return withinTime(connect(address).then((client) => client.ping())).then(
    () => true,
    () => false,
  );
}

/** One tunnel to each host for the whole process; each closes itself when it is not used. */
const sshAgents = new Map<string, SshAgent>();

function sshAgent(url: string, address: SshAddress): SshAgent {
  const agent = sshAgents.get(url) ?? new SshAgent(address);
  sshAgents.set(url, agent);
  return agent;
}

async function connect(address: EngineAddress): Promise<Docker> {
  const { socketPath, url, ssh, certificates } = address;
  // The client would otherwise take DOCKER_HOST for a better address than the one it is given.
  const plain = { host: undefined, port: undefined, protocol: "http" } as const;
  if (socketPath !== undefined) return new Docker({ ...plain, socketPath });
  if (ssh !== undefined) {
    // The client's types lack the one setting that is needed here.
    const options: DockerOptions & { agent: SshAgent } = {
      ...plain,
      host: "engine",
      agent: sshAgent(url, ssh),
    };
    return new Docker(options);
  }
  const { hostname, port, protocol } = new URL(url.replace(/^tcp:/, "http:"));
  const isSecure = protocol === "https:" || certificates !== undefined;
  return new Docker({
    protocol: isSecure ? "https" : "http",
    host: hostname,
    port: Number(port || (isSecure ? 2376 : 2375)),
    ...(certificates === undefined ? {} : await readCertificates(certificates)),
  });
}

async function readCertificates(directory: string): Promise<{ ca: string; cert: string; key: string }> {
  const [ca, cert, key] = await Promise.all(
    ["ca.pem", "cert.pem", "key.pem"].map((name) => readFile(join(directory, name), "utf8")),
  );
  return { ca: ca!, cert: cert!, key: key! };
}

async function withinTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new AgentBoxError("runtime.broken", "The container engine does not answer.")),
      answerTimeoutMs,
    );
  });
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function refuseOld(facts: EngineFacts, { url }: EngineAddress): void {
  if (!isOlderApi(facts.apiVersion)) return;
  throw new AgentBoxError(
    "runtime.broken",
    `The container engine at ${url} is too old: it speaks API ${facts.apiVersion}, and ${oldestApi} is needed.`,
    { hint: "Use Docker 20.10 or Podman 4, or newer.", facts: { version: facts.version } },
  );
}

const startHint = (url: string): string => {
  if (!url.includes("podman"))
    return "Start it: systemctl start docker (an engine of your own: systemctl --user start docker)";
  const own = url.includes("/user/") ? " --user" : "";
  return `Start it: systemctl${own} start podman.socket`;
};

/** In words of what a person can do: start it, be let in, or look at its log. */
export function explainEngineError(error: unknown, { url, source }: EngineAddress): AgentBoxError {
  if (error instanceof AgentBoxError) return error;
  const address = source === "found" ? url : `${url} (from ${source})`;
  const code = systemCode(error);
  if (code === "EACCES" || code === "EPERM") {
    return new AgentBoxError("runtime.broken", `You may not speak to the container engine at ${address}.`, {
      hint: "Use an engine of your own (rootless Docker or Podman). Joining the group docker would work too, but every member of it is root on this host.",
      cause: error,
    });
  }
  if (code === "ENOENT" || code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EHOSTUNREACH") {
    return new AgentBoxError("runtime.broken", `The container engine at ${address} is not running.`, {
      hint: startHint(url),
      cause: error,
    });
  }
  return new AgentBoxError(
    "runtime.broken",
    `The container engine at ${address} failed: ${messageOf(error)}.`,
    {
      hint: "Run: agentbox doctor",
      cause: error,
    },
  );
}
