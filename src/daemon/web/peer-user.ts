import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

type Ends = Pick<Socket, "localPort" | "remotePort">;

/** "0100007F" is 127.0.0.1; with zeros and FFFF before it, the same in a socket of IPv6. */
const loopback = /^(?:0{16}F{4}0{4})?[0-9A-F]{6}7F$/i;

/** Whose the other end of a connection over loopback is, from the kernel's table of sockets; undefined where it is not there. */
export function peerUserIn(table: string, { localPort, remotePort }: Ends): number | undefined {
  for (const line of table.split("\n").slice(1)) {
    const [, from = "", to = "", , , , , uid] = line.trim().split(/\s+/);
    const [[host = "", port = ""], [toHost = "", toPort = ""]] = [from.split(":"), to.split(":")];
    const isIt = Number.parseInt(port, 16) === remotePort && Number.parseInt(toPort, 16) === localPort;
    if (isIt && loopback.test(host) && loopback.test(toHost)) return Number(uid);
  }
  return undefined;
}

/**
 * SECURITY: a browser is started with the address as an argument, which every user of the machine can read, so a link of the
 * owner's is good only for the owner's own programs. Where the system does not tell, and for a daemon of root's, whose
 * owner's browser is another user's, the code alone has to do.
 */
export async function isOfAnotherUser(ends: Ends, ownUser = process.getuid?.()): Promise<boolean> {
  if (ownUser === undefined || ownUser === 0) return false;
  for (const name of ["tcp", "tcp6"]) {
    const table = await readFile(`/proc/self/net/${name}`, "latin1").catch(() => "");
    const user = peerUserIn(table, ends);
    if (user !== undefined) return user !== ownUser && user !== 0;
  }
  return false;
}
