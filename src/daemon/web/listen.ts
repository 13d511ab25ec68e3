/** The web port: opened when the dashboard is first wanted, and again at every start, on the same port. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { readWebSection } from "../../core/team/settings.ts";
import type { Using } from "../../core/using.ts";
import type { ListenerKind, WebAddresses } from "../door.ts";

/** SECURITY: never another address. Who wants the dashboard from elsewhere puts a proxy with TLS in front. */
const loopback = "127.0.0.1";
const usualPort = 7420;
const usualHome = /^\.?agentbox$/;
const portsToTry = 20;

export interface WebPort {
  /** Where the dashboard is, once it is open. */
  readonly port: number | undefined;
  /** The address that people use: the one of the proxy, or the port itself. */
  readonly url: string;
  /** Whether that is a proxy's. */
  readonly hasProxy: boolean;
  readonly addresses: WebAddresses;
  ensure(): Promise<void>;
  close(): void;
}

export function createWebPort(
  core: Using<"access" | "host">,
  createServer: (listener: ListenerKind) => Server,
): WebPort {
  let server: Server | undefined;
  let port: number | undefined;
  let url: URL | undefined;
  let addresses: WebAddresses = { hosts: new Set(), origins: new Set() };
  let opening: Promise<void> | undefined;

  const open = async (): Promise<void> => {
    const settings = await readWebSection(core);
    const opened = createServer({ kind: "web", addresses: () => addresses });
    const remembered = core.access.records.state.port;
    port = await listen(opened, candidates(settings.port, remembered, core.ports.host.agentboxHome));
    server = opened;
    url = settings.url === undefined ? undefined : new URL(settings.url);
    addresses = addressesOf(port, url);
    const chosen = port;
    if (chosen !== remembered) await core.access.change((state) => ({ ...state, port: chosen }));
  };

  return {
    get port() {
      return port;
    },
    get url() {
      return url?.origin ?? `http://${loopback}:${port ?? 0}`;
    },
    get hasProxy() {
      return url !== undefined;
    },
    get addresses() {
      return addresses;
    },
    async ensure() {
      opening ??= open();
      try {
        await opening;
      } catch (error) {
        opening = undefined;
        throw error;
      }
    },
    close() {
      server?.close();
      server?.closeAllConnections();
    },
  };
}

/** Where it was open before, or where it was asked for, it opens with the daemon. A failure is no reason not to start. */
export async function openAtStart(core: Using<"access" | "host" | "report">, web: WebPort): Promise<void> {
  try {
    const { port, url, sign_in: signIn } = await readWebSection(core);
    const isWanted = [port, url, signIn, core.access.records.state.port].some((one) => one !== undefined);
    if (isWanted) await web.ensure();
  } catch (error) {
    core.ports.report({ error: messageOf(error) }, "the dashboard did not open");
  }
}

function addressesOf(port: number, url: URL | undefined): WebAddresses {
  const own = [loopback, "localhost", "[::1]"].map((name) => `${name}:${port}`);
  return {
    hosts: new Set([...own, ...(url === undefined ? [] : [url.host])]),
    origins: new Set([...own.map((host) => `http://${host}`), ...(url === undefined ? [] : [url.origin])]),
  };
}

/** One that was chosen by name, and no other; otherwise the one of last time, or the first that is free. */
function candidates(
  chosen: number | undefined,
  remembered: number | undefined,
  home: string,
): readonly number[] {
  if (chosen !== undefined) return [chosen];
  // Another home begins elsewhere, so that two daemons do not take each other's place while one of them restarts.
  const first = usualHome.test(basename(home)) ? usualPort : usualPort + 100 + (hashOf(home) % 2_000);
  const usual = Array.from({ length: portsToTry }, (_, index) => first + index);
  // 0 is any that is free.
  return [...(remembered === undefined ? [] : [remembered]), ...usual, 0];
}

const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();

async function listen(server: Server, ports: readonly number[]): Promise<number> {
  let last: unknown;
  for (const port of ports) {
    try {
      server.listen({ host: loopback, port, exclusive: true });
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    } catch (error) {
      last = error;
      if (systemCode(error) !== "EADDRINUSE" && systemCode(error) !== "EACCES") break;
    }
  }
  throw new AgentBoxError(
    "web.port_taken",
    `The dashboard cannot listen on ${loopback}:${ports[0]}: ${messageOf(last)}.`,
    { hint: "Choose another port in config.toml: [web] port = 7421" },
  );
}
