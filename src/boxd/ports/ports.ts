import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Connection } from "../connection.ts";

const maxPorts = 512;
/** Looking for programs reads every process; a box full of them must not hold boxd up. */
const maxSearchMs = 50;
const listening = "0A";

export interface ListeningPort {
  readonly port: number;
  readonly address: string;
  /** Only a hint: programs in the box choose their names. */
  readonly program?: string;
}

export function servePorts(connection: Connection): void {
  for (const port of listeningPorts()) connection.send({ type: "port", ...port });
  connection.end({ type: "end" });
}

/** TCP ports that programs listen on; boxd's own doors to the outside are not among them. */
export function listeningPorts(proc = "/proc"): readonly ListeningPort[] {
  const own = socketsOf(`${proc}/self/fd`);
  const found = ["tcp", "tcp6"].flatMap((table) => readTable(`${proc}/net/${table}`));
  const foreign = found.filter(({ inode }) => !own.has(inode)).slice(0, maxPorts);
  const programs = findPrograms(proc, new Set(foreign.map(({ inode }) => inode)));
  return foreign
    .map(({ port, address, inode }) => {
      const program = programs.get(inode);
      return { port, address, ...omitUndefined({ program }) };
    })
    .sort((a, b) => a.port - b.port);
}

interface Row {
  readonly port: number;
  readonly address: string;
  readonly inode: string;
}

function readTable(path: string): Row[] {
  let text: string;
  try {
    text = readFileSync(path, "latin1");
  } catch {
    // A kernel without IPv6 has no second table.
    return [];
  }
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, local = "", , state, , , , , , inode = ""]) => {
      const [address = "", port = ""] = local.split(":");
      const number = Number.parseInt(port, 16);
      return state === listening && number > 0 ? [{ port: number, address: addressOf(address), inode }] : [];
    });
}

/** The kernel writes an address as numbers of four bytes each, in this machine's byte order. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, "hex");
  for (let at = 0; at + 4 <= bytes.length; at += 4) bytes.subarray(at, at + 4).reverse();
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) return "";
  if (bytes.every((byte) => byte === 0)) return "::";
  if (bytes.subarray(0, 15).every((byte) => byte === 0) && bytes[15] === 1) return "::1";
  if (bytes.subarray(0, 12).toString("hex") === "00000000000000000000ffff")
    return bytes.subarray(12).join(".");
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(":");
}

function findPrograms(proc: string, inodes: ReadonlySet<string>): ReadonlyMap<string, string> {
  const programs = new Map<string, string>();
  const endMs = performance.now() + maxSearchMs;
  for (const pid of readdirSync(proc).filter((name) => /^\d+$/.test(name))) {
    if (performance.now() > endMs || programs.size === inodes.size) break;
    for (const inode of socketsOf(`${proc}/${pid}/fd`)) {
      if (!inodes.has(inode) || programs.has(inode)) continue;
      const name = nameOf(`${proc}/${pid}/comm`);
      if (name !== "") programs.set(inode, name);
    }
  }
  return programs;
}

function nameOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim().slice(0, 64);
  } catch {
    return "";
  }
}

function socketsOf(directory: string): ReadonlySet<string> {
  const inodes = new Set<string>();
  try {
    for (const fd of readdirSync(directory)) {
      const inode = socketAt(`${directory}/${fd}`);
      if (inode !== undefined) inodes.add(inode);
    }
  } catch {
    // Gone already, or not ours to look at.
  }
  return inodes;
}

function socketAt(path: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1];
  } catch {
    return undefined;
  }
}
