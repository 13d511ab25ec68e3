/**
 * Looks for a secret in every place where a box, or a reader of the host's disk, could find it: memory, environment and
 * files of every process in a box, and all that the daemon writes and says. Each search counts the bytes it read,
 * because a search that sees nothing finds nothing.
 */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { boxedProcesses, type TestDaemon } from "./daemon.ts";
import { attempt, memoryFileOf, sandboxesOf, sandboxMemory } from "./gvisor-processes.ts";

export interface SearchResult {
  readonly searched: number;
  readonly bytes: number;
  readonly found: readonly string[];
}

/** The forms in which a value is written: as it is, escaped, encoded at any alignment, and in wide characters. */
function formsOf(value: string | Buffer): readonly Buffer[] {
  // Bytes are a key itself, which has one form.
  if (typeof value !== "string") return [value];
  const raw = Buffer.from(value);
  const aligned = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), raw]).toString("base64");
    // Bits that depend on the neighbours are left out: the first with those before, the last with those behind.
    const own = text.slice([0, 2, 3][before], text.length - 4);
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
  const escaped = [encodeURIComponent(value), JSON.stringify(value).slice(1, -1), raw.toString("hex")];
  const texts = new Set([value, ...escaped, value.replaceAll("/", "\\/"), ...aligned]);
  return [...[...texts].map((text) => Buffer.from(text)), Buffer.from(value, "utf16le")];
}

const isIn = (bytes: Buffer, forms: readonly Buffer[]): boolean => forms.some((form) => bytes.includes(form));

/** Whether a text repeats the value in a readable form. */
export const repeats = (text: string, value: string): boolean => isIn(Buffer.from(text), formsOf(value));

class Search {
  readonly #forms: readonly Buffer[];
  readonly #found = new Set<string>();
  #searched = 0;
  #bytes = 0;

  constructor(values: readonly (string | Buffer)[]) {
    this.#forms = values.flatMap(formsOf);
  }

  look(where: string, bytes: Buffer): void {
    this.#searched += 1;
    this.#bytes += bytes.length;
    if (isIn(bytes, this.#forms)) this.#found.add(where);
  }

  get result(): SearchResult {
    return { searched: this.#searched, bytes: this.#bytes, found: [...this.#found] };
  }
}

const pieceBytes = 4 * 1024 * 1024;
/** Pieces overlap by more than any form is long. */
const overlapBytes = 4096;

function searchMemory(search: Search, pid: number): void {
  const maps = attempt(() => readFileSync(`/proc/${pid}/maps`, "utf8")) ?? "";
  const memory = attempt(() => openSync(`/proc/${pid}/mem`, "r"));
  if (memory === undefined) return;
  const piece = Buffer.alloc(pieceBytes);
  try {
    for (const line of maps.split("\n")) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      // A sandbox's memory is searched as a file: through its maps, looking at a hole would fill it.
      if (from === undefined || line.includes(sandboxMemory)) continue;
      const end = BigInt(`0x${to}`);
      for (let at = BigInt(`0x${from}`); at < end; at += BigInt(pieceBytes - overlapBytes)) {
        const size = Number(end - at < BigInt(pieceBytes) ? end - at : BigInt(pieceBytes));
        const read = attempt(() => readSync(memory, piece, 0, size, at)) ?? 0;
        search.look(`memory of ${pid} (${nameOf(pid)})`, piece.subarray(0, read));
      }
    }
  } finally {
    closeSync(memory);
  }
}

const nameOf = (pid: number): string =>
  (attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "").replaceAll("\0", " ").slice(0, 60);

/** The memory of all programs of a gVisor box, and the files that lie in it. */
function searchSandboxMemory(search: Search, pid: number, where: string): void {
  const memory = memoryFileOf(pid);
  if (memory === undefined) return;
  // The file is a gigabyte of holes with the memory in between: tar knows how to leave holes out.
  const argv = ["--create", "--sparse", "--dereference", "--file=-", `--directory=${dirname(memory)}`];
  const { stdout } = spawnSync("tar", [...argv, basename(memory)], { maxBuffer: 2 ** 31 });
  search.look(`${where} of ${pid} (${nameOf(pid)})`, stdout);
}

/** Memory, environment and command line of every process in a box of this home. */
export function searchProcesses(home: string, ...values: readonly (string | Buffer)[]): SearchResult {
  const search = new Search(values);
  const boxed = boxedProcesses(home);
  const sandboxes = sandboxesOf(boxed);
  for (const pid of sandboxes) searchSandboxMemory(search, pid, "memory");
  for (const pid of [...boxed, ...sandboxes]) {
    for (const file of ["environ", "cmdline"]) {
      const bytes = attempt(() => readFileSync(`/proc/${pid}/${file}`));
      if (bytes !== undefined) search.look(`${file} of ${pid} (${nameOf(pid)})`, bytes);
    }
    searchMemory(search, pid);
  }
  return search.result;
}

const maxFileBytes = 256 * 1024 * 1024;

function walk(search: Search, directory: string): void {
  for (const entry of attempt(() => readdirSync(directory, { withFileTypes: true })) ?? []) {
    const path = join(directory, entry.name);
    search.look(path, Buffer.from(entry.name));
    if (entry.isDirectory()) walk(search, path);
    else if (entry.isSymbolicLink()) attempt(() => search.look(path, Buffer.from(readlinkSync(path))));
    else if (entry.isFile() && (attempt(() => statSync(path).size) ?? maxFileBytes) < maxFileBytes)
      attempt(() => search.look(path, readFileSync(path)));
  }
}

/** Every file below the daemon's home: its store, its logs, the vault, and what the boxes wrote. */
export function searchDisk(home: string, ...values: readonly string[]): SearchResult {
  const search = new Search(values);
  walk(search, home);
  return search.result;
}

/** Places of a box that lie in memory only, as its processes see them. */
export function searchBoxFiles(home: string, ...values: readonly string[]): SearchResult {
  const search = new Search(values);
  const namespaces = new Set<string>();
  const boxed = boxedProcesses(home);
  for (const pid of sandboxesOf(boxed)) searchSandboxMemory(search, pid, "files in memory");
  for (const pid of boxed) {
    const namespace = attempt(() => readlinkSync(`/proc/${pid}/ns/mnt`));
    if (namespace === undefined || namespaces.has(namespace)) continue;
    namespaces.add(namespace);
    for (const directory of ["tmp", "run", "var", "dev/shm", "home", "workspace", "etc/hosts"])
      walk(search, `/proc/${pid}/root/${directory}`);
  }
  return search.result;
}

/** The daemon's words to people and programs: events, egress records, receipts, logs and screens, and its own log. */
export async function searchWords(
  daemon: TestDaemon,
  box: string,
  ...values: readonly string[]
): Promise<SearchResult> {
  const search = new Search(values);
  const { client } = daemon;
  search.look("the daemon's log", Buffer.from(daemon.log()));
  for (let after = 0; ; ) {
    const { events } = await client.listEvents({ after, limit: 1000 });
    if (events.length === 0) break;
    search.look("events", Buffer.from(JSON.stringify(events)));
    after = events.at(-1)!.id;
  }
  search.look("egress records", Buffer.from(JSON.stringify(await client.listEgress({ box, limit: 1000 }))));
  search.look("receipts", Buffer.from(JSON.stringify(await client.secretAudit({ box, limit: 1000 }))));
  const commands = [
    ["logs", box],
    ["inspect", box],
    ["inspect", box, "--json"],
    ["net", box],
    ["events", "--box", box, "--json"],
    ["vault", "ls", "--json"],
    ["vault", "audit", "--json"],
    ["diff", box],
  ];
  for (const args of commands) {
    const { stdout, stderr } = await daemon.cli(args, { timeoutMs: 20_000 });
    search.look(`agentbox ${args.join(" ")}`, Buffer.from(stdout + stderr));
  }
  return search.result;
}

/** The limit on crash dumps of a process, in bytes. */
export function coreLimitOf(pid: number): string | undefined {
  const limits = readFileSync(`/proc/${pid}/limits`, "utf8");
  return /^Max core file size +(\S+)/m.exec(limits)?.[1];
}
