import { once } from "node:events";
import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { dirname } from "node:path";
import { GateDialer, listenerOptions } from "./gate-dial.ts";

/** An ssh client needs one for a sign-in, so this is plenty; the host has a limit of its own. */
const maxConnections = 32;

/** Where ssh looks for its agent. It understands nothing and holds nothing: the keys and the rules are on the host. */
export async function openSshAgentSocket(path: string, linkSocket: string): Promise<Server> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await chmod(dirname(path), 0o700);
  // Left behind by an earlier boxd, where /tmp outlived it.
  await rm(path, { force: true });
  const dialer = new GateDialer(linkSocket, { find: () => undefined }, maxConnections);
  const server = createServer(listenerOptions, (client) => dialer.forward(client, { via: "ssh-agent" }));
  server.listen(path);
  await once(server, "listening");
  await chmod(path, 0o600);
  server.on("error", () => undefined);
  return server;
}
