/**
 * Connections to a listener on loopback that have not yet shown a right to be there. SECURITY: every user of the host can
 * open them. There is room for so many; when it is full, the user who has most of them loses the oldest, so that half-open
 * connections of one user do not keep out another one's browser.
 */
import type { IncomingMessage } from "node:http";
import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type SocketPorts, PeerUsers } from "./peer-user.ts";

export interface ClosedConnections {
  /** Of the host; undefined where the system does not tell. */
  readonly user: number | undefined;
  readonly count: number;
}

export interface WaitingOptions {
  readonly most: number;
  readonly onClosed?: (closed: ClosedConnections) => void;
  readonly readUsers?: () => Promise<{ of(ports: SocketPorts): number | undefined }>;
}

/** While it is asked whose they are, there may be so many times more of them. */
const whileAsking = 8;

export class WaitingConnections {
  readonly #options: WaitingOptions;
  /** Oldest first, each with its user as far as that is known. */
  readonly #waiting = new Map<Duplex, number | undefined>();
  #isAsking = false;

  constructor(server: Server, options: WaitingOptions) {
    this.#options = options;
    server.on("connection", (socket: Socket) => this.#add(socket));
    // One that asks something is newer than one that is only open.
    server.on("request", ({ socket }: IncomingMessage) => {
      if (!this.#waiting.has(socket)) return;
      const user = this.#waiting.get(socket);
      this.#waiting.delete(socket);
      this.#waiting.set(socket, user);
    });
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** It has shown its right: it is counted no more. */
  admit(socket: Duplex): void {
    this.#waiting.delete(socket);
  }

  #add(socket: Socket): void {
    this.#waiting.set(socket, undefined);
    socket.once("close", () => this.#waiting.delete(socket));
    const { most } = this.#options;
    if (this.#waiting.size > most * whileAsking) {
      const [oldest] = this.#waiting.keys();
      this.#close(oldest!);
    } else if (this.#waiting.size > most && !this.#isAsking) void this.#makeRoom();
  }

  async #makeRoom(): Promise<void> {
    const { most, readUsers = () => PeerUsers.read(), onClosed } = this.#options;
    this.#isAsking = true;
    try {
      const users = await readUsers();
      for (const [socket, user] of this.#waiting)
        if (user === undefined) this.#waiting.set(socket, users.of(socket as Socket));
      // Those that have been admitted meanwhile count no more, and a burst of honest ones has gone by.
      const counts = new Map<number | undefined, number>();
      while (this.#waiting.size > most) {
        const [user, closed] = this.#closeOldestOfMost(Math.ceil(most / 4));
        counts.set(user, (counts.get(user) ?? 0) + closed);
      }
      for (const [user, count] of counts) onClosed?.({ user, count });
    } finally {
      this.#isAsking = false;
    }
  }

  #closeOldestOfMost(howMany: number): readonly [user: number | undefined, closed: number] {
    const byUser = new Map<number | undefined, Duplex[]>();
    for (const [socket, user] of this.#waiting) {
      const known = byUser.get(user);
      if (known) known.push(socket);
      else byUser.set(user, [socket]);
    }
    const [user, sockets] = [...byUser].reduce((most, one) => (one[1].length > most[1].length ? one : most));
    const closed = sockets.slice(0, howMany);
    for (const socket of closed) this.#close(socket);
    return [user, closed.length];
  }

  /** At once and without a trace in the kernel's table, which would grow by one entry each. */
  #close(socket: Duplex): void {
    this.#waiting.delete(socket);
    (socket as Socket).resetAndDestroy();
  }
}
