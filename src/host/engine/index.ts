/** The door to a container engine: found, asked who it is, and refused with a reason where it cannot serve. */
import Docker from "dockerode";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { type EngineAddress, findEngineAddress } from "./address.ts";
import { type EngineAnswers, engineFacts, type EngineFacts, isOlderApi, oldestApi } from "./facts.ts";

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

const answerTimeoutMs = 10_000;

export async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  const address = options.address ?? (await findEngineAddress());
  if (address === undefined) {
    throw new AgentBoxError("runtime.absent", "No container engine was found on this host.", {
      hint: "Install one (apt-get install docker.io, or podman) and start it, or name it in DOCKER_HOST.",
    });
  }
  const client = connect(address);
  try {
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

function connect({ socketPath, url }: EngineAddress): Docker {
  if (socketPath !== undefined) return new Docker({ socketPath });
  const parsed = new URL(url.replace(/^tcp:/, "http:"));
  if (parsed.protocol === "ssh:") {
    return new Docker({
      protocol: "ssh",
      host: parsed.hostname,
      port: parsed.port === "" ? 22 : Number(parsed.port),
      username: parsed.username,
    });
  }
  return new Docker({
    protocol: parsed.protocol === "https:" ? "https" : "http",
    host: parsed.hostname,
    port: Number(parsed.port || 2375),
  });
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
  const place = source === "found" ? url : `${url} (from ${source})`;
  const code = systemCode(error);
  if (code === "EACCES" || code === "EPERM") {
    return new AgentBoxError("runtime.broken", `You may not speak to the container engine at ${place}.`, {
      hint: "Use an engine of your own (rootless Docker or Podman). Joining the group docker would work too, but whoever is in it is root on this host.",
      cause: error,
    });
  }
  if (code === "ENOENT" || code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EHOSTUNREACH") {
    return new AgentBoxError("runtime.broken", `The container engine at ${place} is not running.`, {
      hint: startHint(url),
      cause: error,
    });
  }
  return new AgentBoxError(
    "runtime.broken",
    `The container engine at ${place} failed: ${messageOf(error)}.`,
    {
      hint: "Run: agentbox doctor",
      cause: error,
    },
  );
}
