import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Socket } from "node:net";

const maxProcesses = 256;
const maxSearchMs = 2;
/** Reading the kernel's table costs milliseconds on a big host; searches get this share of boxd's time, no more. */
const restFactor = 20;

type Peer = Pick<Socket, "remoteAddress" | "remotePort" | "localAddress" | "localPort">;

/**
 * The name of the program at the other end of a connection, where it can be had cheaply. Only a hint: programs in
 * the box choose their names.
 */
export class ProgramFinder {
  readonly #proc: string;
  readonly #restFactor: number;
  readonly #maxSearchMs: number;
  #restUntilMs = 0;

  constructor(proc = "/proc", factor = restFactor, searchMs = maxSearchMs) {
    this.#proc = proc;
    this.#restFactor = factor;
    this.#maxSearchMs = searchMs;
  }

  find(peer: Peer): string | undefined {
    const startMs = performance.now();
    if (startMs < this.#restUntilMs) return undefined;
    try {
      const inode = this.#inodeOf(peer);
      return inode === undefined ? undefined : this.#ownerOf(`socket:[${inode}]`);
    } catch {
      return undefined;
    } finally {
      const endMs = performance.now();
      this.#restUntilMs = endMs + (endMs - startMs) * this.#restFactor;
    }
  }

  /** The socket at the program's end: its own address is our peer, its peer is our own address. */
  #inodeOf({ remoteAddress, remotePort, localAddress, localPort }: Peer): string | undefined {
    if (!remoteAddress || !remotePort || !localAddress || !localPort) return undefined;
    const ends = ` ${hexEnd(remoteAddress, remotePort)} ${hexEnd(localAddress, localPort)} `;
    for (const file of ["tcp", "tcp6"]) {
      const table = readFileSync(`${this.#proc}/net/${file}`, "latin1");
      const at = table.indexOf(file === "tcp" ? ends : mapped(ends));
      if (at < 0) continue;
      const line = table.slice(at, table.indexOf("\n", at)).trim().split(/\s+/);
      return line[8];
    }
    return undefined;
  }

  #ownerOf(link: string): string | undefined {
    const endMs = performance.now() + this.#maxSearchMs;
    const pids = readdirSync(this.#proc).filter((name) => /^\d+$/.test(name));
    // The youngest first: who connects has often just been started.
    for (const pid of pids.toReversed().slice(0, maxProcesses)) {
      if (performance.now() > endMs) return undefined;
      if (!this.#holds(pid, link)) continue;
      const name = readFileSync(`${this.#proc}/${pid}/comm`, "utf8").trim();
      return name === "" ? undefined : name.slice(0, 64);
    }
    return undefined;
  }

  #holds(pid: string, link: string): boolean {
    const directory = `${this.#proc}/${pid}/fd`;
    try {
      return readdirSync(directory).some((fd) => {
        try {
          return readlinkSync(`${directory}/${fd}`) === link;
        } catch {
          return false;
        }
      });
    } catch {
      // Gone already, or not ours to look at.
      return false;
    }
  }
}

/** As the kernel's table writes it: the address as one number in this machine's byte order. */
function hexEnd(address: string, port: number): string {
  const bytes = address
    .replace(/^::ffff:/, "")
    .split(".")
    .map(Number);
  const number = Buffer.from(bytes).readUInt32LE(0);
  return `${number.toString(16).toUpperCase().padStart(8, "0")}:${port.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The same two ends, as a program writes them that uses an IPv6 socket for an IPv4 address. */
const mapped = (ends: string): string => ends.replaceAll(" ", " 0000000000000000FFFF0000").slice(0, -24);
