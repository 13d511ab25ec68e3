import { DnsServer } from "./dns-server.ts";
import { Forwarders } from "./forwarders.ts";
import { GateDialer, listenerOptions } from "./gate-dial.ts";
import { NameTable } from "./name-table.ts";
import { ProgramFinder } from "./program-finder.ts";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Where programs that honour HTTP_PROXY go. It understands nothing: the gate does, on the host. */
async function openProxyPort(dialer: GateDialer, host: string, port: number): Promise<Server> {
  const server = createServer(listenerOptions, (client) => dialer.forward(client, { via: "proxy" }));
  server.listen({ host, port });
  await once(server, "listening");
  server.on("error", () => undefined);
  return server;
}

const maxPorts = 64;

export interface BoxNetworkOptions {
  readonly ports: readonly number[];
  readonly hostname: string;
  readonly linkSocket: string;
  /** The addresses of the name server and the proxy; others only in tests. */
  readonly host?: string;
  readonly dnsPort?: number;
  readonly proxyPort?: number;
}

export interface BoxNetwork {
  readonly udpPort: number;
  readonly tcpPort: number;
  readonly proxyPort: number;
  setPorts(ports: readonly number[]): Promise<void>;
  close(): void;
}

/** The box's side of the gate: every name has an address here, and every connection to one goes to the host. */
export async function openNetwork(options: BoxNetworkOptions): Promise<BoxNetwork> {
  const { hostname, linkSocket, host = "127.0.0.1" } = options;
  const names = new NameTable();
  const dialer = new GateDialer(linkSocket, new ProgramFinder());
  const forwarders = new Forwarders(options.ports.slice(0, maxPorts), names, dialer);
  const dns = new DnsServer({ names, hostname, ready: (name) => forwarders.ready(name) });
  const [proxy] = await Promise.all([
    openProxyPort(dialer, host, options.proxyPort ?? 3128),
    dns.listen(host, options.dnsPort ?? 53),
  ]);
  return {
    udpPort: dns.udpPort,
    tcpPort: dns.tcpPort,
    proxyPort: (proxy.address() as { port: number }).port,
    setPorts: (ports) => forwarders.setPorts(ports.slice(0, maxPorts)),
    close() {
      dns.close();
      forwarders.close();
      proxy.close();
    },
  };
}
