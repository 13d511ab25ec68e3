import { isAgentBoxError, systemCode } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import { type Client, type Transport, createClient, unixTransport } from "../../client/index.ts";
import type { HostEnv } from "../../host/env.ts";
import { homePaths, requireOwnHome } from "../../host/home.ts";
import type { Screen } from "../render/screen.ts";

interface ConnectOptions {
  readonly env: HostEnv;
  readonly program: string;
  readonly screen: Screen;
}

/** Nothing listens: no request was sent, so it may be sent again. */
const isAbsent = (error: unknown): boolean =>
  isAgentBoxError(error, "daemon.unreachable") &&
  ["ENOENT", "ECONNREFUSED"].includes(systemCode(error.cause) ?? "");

/** A client that starts the daemon when the first call finds none. No call is spent on asking first. */
export async function connectToDaemon({ env, program, screen }: ConnectOptions): Promise<Client> {
  const start = async () => {
    const { startDaemon } = await import("./start-daemon.ts");
    const { withProgress } = await import("../render/progress.ts");
    await withProgress(screen, "Starting the daemon", () => startDaemon({ env, program }));
  };
  const warn = versionWarning(screen);
  return createClient(startingTransport(ownTransport(env), start, warn), { timeoutMs: 600_000 });
}

/** SECURITY: nothing is sent before it is known whose directory the socket lies in. */
function ownTransport(env: HostEnv): Transport {
  const inner = unixTransport(homePaths(env.agentboxHome).socket);
  let checked: Promise<void> | undefined;
  const check = () => (checked ??= requireOwnHome(env.agentboxHome, env));
  return {
    call: async (call) => check().then(() => inner.call(call)),
    stream: async (path) => check().then(() => inner.stream(path)),
  };
}

/** A client for a glance: it starts nothing, and gives up soon. */
export const connectToRunning = (env: HostEnv): Client =>
  createClient(ownTransport(env), { timeoutMs: 1_000 });

/** A client that never starts anything; undefined when no daemon answers. */
export async function findDaemon(env: HostEnv): Promise<Client | undefined> {
  const client = createClient(ownTransport(env), { timeoutMs: 10_000 });
  try {
    await client.getInfo();
    return client;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

export function startingTransport(
  inner: Transport,
  start: () => Promise<void>,
  seen: (version: string | undefined) => void = () => undefined,
): Transport {
  const withStart = async <T>(attempt: () => Promise<T>): Promise<T> => {
    try {
      return await attempt();
    } catch (error) {
      if (!isAbsent(error)) throw error;
      await start();
      return attempt();
    }
  };
  return {
    async call(call) {
      const answer = await withStart(() => inner.call(call));
      seen(answer.version);
      return answer;
    },
    stream: (path) => withStart(() => inner.stream(path)),
  };
}

/** Says once that the daemon is of another version than the command. */
function versionWarning(screen: Screen): (seen: string | undefined) => void {
  let isDone = false;
  return (seen) => {
    if (isDone || seen === undefined || seen === version) return;
    isDone = true;
    screen.note(
      `${screen.errorStyle.yellow("warning:")} the daemon is version ${seen}, this is ${version}; boxes go on during: agentbox daemon stop && agentbox daemon start`,
    );
  };
}
