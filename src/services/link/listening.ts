/** Makes a box's socket and its config file: owner-only from the first moment, and in this order. */
import { once } from "node:events";
import { chmod, chown, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { TokenBucket } from "../../base/rate.ts";
import type { BoxOwner } from "../../contract/box.ts";
import type { BoxdConfig } from "../../contract/link/messages.ts";
import { writeFileAtomic } from "../../host/files.ts";

/** The bytes that fit into sun_path on Linux, without its final zero. */
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

/** Connections beyond all slots are closed unseen; of those, so many. */
const droppedPerSecond = 100;
const droppedBurst = 2_000;
const restMs = 1_000;

export interface BoxServer {
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly linkDir: string;
  readonly owner: BoxOwner;
  readonly clock: Clock;
  /** The connection is not read yet. */
  readonly accept: (socket: Socket) => void;
  readonly violated: (reason: string) => void;
}

export async function listenForBox({
  linkDir,
  owner,
  clock,
  accept,
  violated,
}: ListenOptions): Promise<BoxServer> {
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
  // SECURITY: unread until it has its turn, or what a box sends over a thousand connections would lie here meanwhile.
  const server = createServer({ pauseOnConnect: true }, accept);
  server.maxConnections = maxConnections + maxGateConnections;
  await listen(server, path, owner);
  let isClosed = false;
  let rest = (): void => undefined;
  const drops = new TokenBucket(droppedPerSecond, droppedBurst, clock);
  // SECURITY: to take a connection and close it costs the daemon more than it costs the box to dial. Without a
  // listener, the kernel refuses.
  server.on("drop", () => {
    if (drops.take() || !server.listening) return;
    violated("it dials without end, and its socket is closed for a second");
    server.close();
    rest = clock.after(restMs, () => {
      if (isClosed) return;
      listen(server, path, owner).then(
        () => isClosed && server.close(),
        (error: unknown) => violated(`its socket could not be opened again: ${messageOf(error)}`),
      );
    });
  });
  server.on("error", () => undefined);
  return {
    async close() {
      isClosed = true;
      rest();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

async function listen(server: Server, path: string, owner: BoxOwner): Promise<void> {
  await rm(path, { force: true });
  // SECURITY: no other user can connect before the mode is right, because the daemon's umask gives write permission to
  // no other user. The umask is never changed here: it belongs to the whole process, and a directory that another task
  // makes at that moment would become inaccessible.
  server.listen(path);
  await once(server, "listening");
  await chmod(path, 0o600);
  if (ownerFor(owner)) await chown(path, owner.uid, owner.gid);
}
