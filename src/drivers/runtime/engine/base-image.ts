/**
 * The root of a box without an image: empty but for directories to mount on. Made once, through the engine's own
 * import, named after its content, so that every box and every installation shares it and nothing is ever pulled.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type Docker from "dockerode";
import type { SystemLayout } from "../system-layout.ts";

/** An engine gives memory mounted on one of these the mode it has here; for secrets it is to take the mount's own. */
const modes: Readonly<Record<string, number>> = {
  tmp: 0o1777,
  "var/tmp": 0o1777,
  run: 0o1777,
  "var/lib": 0o1777,
  "var/log": 0o1777,
  "run/secrets": 0o700,
  sys: 0o555,
};
const directories = [
  "dev",
  "etc",
  "home",
  "home/agent",
  "opt",
  "opt/agentbox",
  "opt/agentbox/etc",
  "proc",
  "run",
  "run/agentbox",
  "sys",
  "tmp",
  "usr",
  "var",
  "var/lib",
  "var/log",
  "var/tmp",
  "workspace",
];

const blockBytes = 512;
const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, "0")}\0`;

/** One header of a ustar archive; times and owners are zero, so that the same layout is the same image. */
function header(name: string, kind: "directory" | "symlink", target = ""): Uint8Array {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  block.write(octal(kind === "directory" ? (modes[name.slice(0, -1)] ?? 0o755) : 0o777, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(0, 12), 124);
  block.write(octal(0, 12), 136);
  block.write("        ", 148);
  block.write(kind === "directory" ? "5" : "2", 156);
  block.write(target, 157);
  block.write("ustar\u000000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** Pure: the same layout, the same bytes. */
function baseArchive(layout: SystemLayout): Buffer {
  const links = layout.entries.flatMap((entry) =>
    entry.kind === "symlink" ? [header(entry.path.slice(1), "symlink", entry.target)] : [],
  );
  return Buffer.concat([
    ...directories.map((name) => header(`${name}/`, "directory")),
    ...links,
    header("etc/mtab", "symlink", "/proc/self/mounts"),
    header("var/run", "symlink", "/run"),
    header("var/lock", "symlink", "/run/lock"),
    Buffer.alloc(2 * blockBytes),
  ]);
}

const baseImageName = (archive: Uint8Array): string =>
  `agentbox-host-base:${createHash("sha256").update(archive).digest("hex").slice(0, 16)}`;

export interface BaseImage {
  readonly name: string;
  readonly archive: Uint8Array;
}

/** Pure. Whether the engine has it, the first container that needs it finds out. */
export function baseImage(layout: SystemLayout): BaseImage {
  const archive = baseArchive(layout);
  return { name: baseImageName(archive), archive };
}

export async function importBaseImage(client: Docker, { name, archive }: BaseImage): Promise<void> {
  // With its tag in the name: Podman does not read the field for it.
  const answer = await client.importImage(Readable.from([archive]), { repo: name });
  // The import is over when its progress has been read.
  for await (const _ of answer as unknown as AsyncIterable<unknown>);
}
