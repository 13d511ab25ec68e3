/** Makes a box's socket and its config file: owner-only from the first moment, and in this order. */
import { once } from "node:events";
import { chmod, chown, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import type { BoxOwner } from "../../contract/box.ts";
import type { BoxdConfig } from "../../contract/link/messages.ts";
import { writeFileAtomic } from "../../host/files.ts";

/** What fits into sun_path on Linux, without its final zero. */
const maxSocketPath = 107;
/** SECURITY: counted apart, so that a box full of busy programs can still be spoken to, and the other way round. */
export const maxConnections = 256;
export const maxGateConnections = 512;

/** SECURITY: it holds the box's environment, so of all users of the host only the box's own may read it. */
export const writeBoxConfig = (linkDir: string, owner: BoxOwner, config: BoxdConfig): Promise<void> =>
  writeFileAtomic(join(linkDir, "box.json"), JSON.stringify(config), {
    mode: 0o400,
    owner: ownerFor(owner),
    isDurable: false,
  });

/** Only root gives files away. */
const ownerFor = (owner: BoxOwner): BoxOwner | undefined => (process.getuid?.() === 0 ? owner : undefined);

export async function listenForBox(
  linkDir: string,
  owner: BoxOwner,
  accept: (socket: Socket) => void,
): Promise<Server> {
  const path = join(linkDir, "link.sock");
  if (Buffer.byteLength(path) > maxSocketPath) {
    throw new AgentBoxError(
      "link.path_too_long",
      `The socket path ${path} is longer than ${maxSocketPath} bytes.`,
      {
        hint: "Set AGENTBOX_HOME to a shorter path.",
        facts: { path },
      },
    );
  }
  await rm(path, { force: true });
  const server = createServer(accept);
  server.maxConnections = maxConnections + maxGateConnections;
  // SECURITY: no other user can connect before the mode is right, because the daemon's umask lets nobody else write.
  // The umask is never changed here: it belongs to the whole process, and a directory that another task is making at
  // that moment would become one that nobody can enter.
  server.listen(path);
  await once(server, "listening");
  await chmod(path, 0o600);
  if (ownerFor(owner)) await chown(path, owner.uid, owner.gid);
  server.on("error", () => undefined);
  return server;
}
