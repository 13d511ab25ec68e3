import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

export type SocketPorts = Pick<Socket, "localPort" | "remotePort">;

/** "0100007F" is 127.0.0.1; with zeros and FFFF before it, the same in a socket of IPv6. */
const loopback = /^(?:0{16}F{4}0{4})?[0-9A-F]{6}7F$/i;

/** Whose the other ends of connections over loopback are, from the kernel's tables of sockets. */
export class PeerUsers {
  readonly #users = new Map<string, number>();

  constructor(...tables: readonly string[]) {
    for (const line of tables.flatMap((table) => table.split("\n").slice(1))) {
      const [, from = "", to = "", , , , , uid, , inode] = line.trim().split(/\s+/);
      // SECURITY: a socket that no program holds any more counts as root's, whichever program has closed it.
      if (inode === "0") continue;
      const [[host = "", port = ""], [toHost = "", toPort = ""]] = [from.split(":"), to.split(":")];
      if (!loopback.test(host) || !loopback.test(toHost)) continue;
      const key = keyOf({ localPort: Number.parseInt(toPort, 16), remotePort: Number.parseInt(port, 16) });
      if (!this.#users.has(key)) this.#users.set(key, Number(uid));
    }
  }

  static async read(): Promise<PeerUsers> {
    const read = (name: string) => readFile(`/proc/self/net/${name}`, "latin1").catch(() => "");
    return new PeerUsers(await read("tcp"), await read("tcp6"));
  }

  /** Undefined for a connection that is not there, and for one that no program holds any more. */
  of(ports: SocketPorts): number | undefined {
    return this.#users.get(keyOf(ports));
  }
}

const keyOf = ({ localPort, remotePort }: SocketPorts): string => `${localPort} ${remotePort}`;

/**
 * SECURITY: a browser is started with the address as an argument, which every user of the machine can read, so a link of the
 * owner's is good only for the owner's own programs. Where the system does not tell, and for a daemon of root's, whose
 * owner's browser is another user's, the code alone has to do.
 */
export async function isOfAnotherUser(ports: SocketPorts, ownUser = process.getuid?.()): Promise<boolean> {
  if (ownUser === undefined || ownUser === 0) return false;
  const user = (await PeerUsers.read()).of(ports);
  return user !== undefined && user !== ownUser && user !== 0;
}

/** Tells the users of many connections with few readings: each is answered by one that began after it was asked. */
export class PeerUserReader {
  #running: Promise<PeerUsers> | undefined;
  #next: Promise<PeerUsers> | undefined;

  /** Whether the other end is a program of one of these users; also where the system does not tell. */
  async isOf(users: ReadonlySet<number>, ports: SocketPorts): Promise<boolean> {
    if (process.platform !== "linux" || users.size === 0) return true;
    const user = (await this.#read()).of(ports);
    return user !== undefined && users.has(user);
  }

  #read(): Promise<PeerUsers> {
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  #begin(): Promise<PeerUsers> {
    const reading = PeerUsers.read();
    this.#running = reading;
    void reading.finally(() => {
      if (this.#running === reading) this.#running = undefined;
    });
    return reading;
  }
}
