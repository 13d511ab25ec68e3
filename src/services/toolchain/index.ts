/**
 * The toolchain that every box gets read-only under /opt/agentbox: boxd and the Node that runs it. A copy under
 * AGENTBOX_HOME is used, so that a rebuild or an upgrade never pulls a file out from under a running box.
 */
import { createHash } from "node:crypto";
import { chmod, copyFile, cp, mkdir, readFile, readdir, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeTree } from "../../host/files.ts";
import type { BoxTools } from "../../ports/runtime.ts";

export interface ToolchainOptions {
  /** `<home>/tools`; boxes can pass through it. */
  readonly toolsDir: string;
  /** The built boxd with its native parts. */
  readonly boxdSource: string;
  /** The Node binary that runs us. */
  readonly nodeSource: string;
  /** Under root, boxes have users of their own that cannot enter every directory. */
  readonly isRoot: boolean;
}

export async function stageToolchain(options: ToolchainOptions): Promise<BoxTools> {
  const boxd = await stageBoxd(options);
  const isReachable = !options.isRoot || (await canOthersReach(options.nodeSource));
  const node = isReachable ? options.nodeSource : await stageNode(options);
  return { boxd, node };
}

/** Named by content: the same boxd is staged once, and an old one stays as long as a box may run it. */
async function stageBoxd({ toolsDir, boxdSource }: ToolchainOptions): Promise<string> {
  const target = join(toolsDir, `boxd-${await digestTree(boxdSource)}`);
  if (await exists(target)) return target;
  const temporary = `${target}.${process.pid}`;
  await removeTree(temporary);
  await cp(boxdSource, temporary, { recursive: true });
  await openForReading(temporary);
  await rename(temporary, target).catch(async () => removeTree(temporary));
  return target;
}

async function stageNode({ toolsDir, nodeSource }: ToolchainOptions): Promise<string> {
  const { size, mtimeMs } = await stat(nodeSource);
  const target = join(toolsDir, `node-${process.version}-${size}-${Math.round(mtimeMs)}`);
  if (await exists(target)) return target;
  const temporary = `${target}.${process.pid}`;
  await mkdir(toolsDir, { recursive: true });
  await copyFile(nodeSource, temporary);
  await chmod(temporary, 0o755);
  await rename(temporary, target);
  return target;
}

async function listFiles(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function digestTree(dir: string): Promise<string> {
  const hash = createHash("sha256");
  for (const file of await listFiles(dir))
    hash
      .update(file.slice(dir.length))
      .update("\0")
      .update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}

/**
 * A box must be able to read the programs it runs, and no one may change them, so the umask of the build must not
 * count.
 */
async function openForReading(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await openForReading(path);
    else await chmod(path, ((await stat(path)).mode & 0o111) === 0 ? 0o644 : 0o755);
  }
}

async function canOthersReach(path: string): Promise<boolean> {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    if (((await stat(dir)).mode & 0o001) === 0) return false;
    if (dir === dirname(dir)) break;
  }
  return ((await stat(path)).mode & 0o005) === 0o005;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
