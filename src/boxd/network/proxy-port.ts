import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { type GateDialer, listenerOptions } from "./gate-dial.ts";

/** Where programs that honour HTTP_PROXY go. It understands nothing: the gate does, on the host. */
export async function openProxyPort(dialer: GateDialer, host: string, port: number): Promise<Server> {
  const server = createServer(listenerOptions, (client) => dialer.forward(client, { via: "proxy" }));
  server.listen({ host, port });
  await once(server, "listening");
  server.on("error", () => undefined);
  return server;
}
