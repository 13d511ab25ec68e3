/**
 * Keeps names in a workspace read-only for the box, those that do not exist included. A name can only be covered where
 * there is a file to mount on, so an absent one gets a stand-in on the host for as long as a box needs it. Stand-ins
 * are written down first, and taken away again when the last box that relies on them has ended.
 */
import { lchown, lstat, mkdir, readFile, readdir, realpath, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import { boxNamePattern } from "../../contract/box.ts";
import { type GuardedEntry, bareRepositoryEntry, visibleStandIns } from "../../contract/guarded-paths.ts";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";
import type { RuntimeBox } from "../../ports/runtime.ts";
import { hideStandIns, showStandIns } from "./hidden-stand-ins.ts";

export interface Guarded {
  /** The workspace with every link resolved: what was looked at is what is mounted. */
  readonly workspace: string;
  /** Names in it that are taken: mounted over themselves, read-only, unless the box has a git directory of its own. */
  readonly names: readonly string[];
  readonly ownGit?: string | undefined;
}

/** The stand-ins that one box relies on, in its record directory. */
interface StandIns {
  readonly workspace: string;
  readonly entries: readonly GuardedEntry[];
}

type Asked = NonNullable<RuntimeBox["guarded"]>;

const cannotGuard = (workspace: string, name: string, problem: string): AgentBoxError =>
  new AgentBoxError(
    "workspace.source_invalid",
    `The directory ${workspace} cannot be mounted: ${name} in it ${problem}, and the box could replace it.`,
    { hint: "Use the workspace mode clone.", facts: { source: workspace, name } },
  );

export class Guard {
  readonly #boxesDir: string;
  /** One at a time: what one box takes away is what another may be about to rely on. */
  readonly #turns = new KeyedMutex();

  constructor(boxesDir: string) {
    this.#boxesDir = boxesDir;
  }

  #path(box: string): string {
    return join(this.#boxesDir, box, "runtime", "stand-ins.json");
  }

  /** Everything that is to be covered exists when this returns. */
  async raise(box: RuntimeBox): Promise<Guarded | undefined> {
    if (box.guarded === undefined) return undefined;
    const { workspace } = box.dirs;
    const leadsTo = await realpath(workspace);
    // SECURITY: agreed to was a real path. Another box that may write above it can have put a link in its place.
    if (leadsTo !== workspace)
      throw new AgentBoxError("mount.invalid", `The workspace ${workspace} now leads to ${leadsTo}.`, {
        hint: "Put the directory back where it was, or remove the box.",
      });
    const asked = box.guarded;
    return await this.#turns.run("all", async () => {
      const guarded = await withBareRepository(workspace, asked);
      const present = await readdir(workspace);
      const names = present.filter((name) => isGuarded(name, guarded));
      for (const name of names) await checkKind(workspace, name);
      if (guarded.ownGit !== undefined) await checkOwnGit(workspace, guarded.ownGit);
      const absent = guarded.entries.filter(({ name }) => !present.includes(name));
      const relied = await this.#reliedOn(box.name, workspace);
      const shared = guarded.entries.filter(({ name }) => present.includes(name) && relied.has(name));
      await this.#write(box.name, { workspace, entries: [...absent, ...shared] });
      for (const entry of absent) await makeStandIn(workspace, entry);
      if (absent.some(({ name }) => visibleStandIns.includes(name))) await hideStandIns(workspace);
      const { ownGit } = guarded;
      return { workspace, names: [...names, ...absent.map(({ name }) => name)].toSorted(), ownGit };
    });
  }

  /** Every box that may rely on something, of whichever runtime: two of them may share a workspace. */
  async boxes(): Promise<readonly string[]> {
    const names = await readdir(this.#boxesDir).catch(() => []);
    return names.filter((name) => boxNamePattern.test(name));
  }

  async isRaised(box: string): Promise<boolean> {
    return (await this.#find(box)) !== undefined;
  }

  /** Takes away what only this box relied on. It does not live any more. */
  async lower(box: string): Promise<void> {
    await this.#turns.run("all", async () => {
      const mine = await this.#find(box);
      if (mine === undefined) return;
      const relied = await this.#reliedOn(box, mine.workspace);
      for (const entry of mine.entries) {
        if (!relied.has(entry.name)) await removeStandIn(mine.workspace, entry);
      }
      if (!visibleStandIns.some((name) => relied.has(name))) await showStandIns(mine.workspace);
      await rm(this.#path(box), { force: true });
    });
  }

  /** Stand-ins in this workspace that other boxes need, living or not yet cleaned up. */
  async #reliedOn(except: string, workspace: string): Promise<ReadonlySet<string>> {
    const others = (await this.boxes()).filter((name) => name !== except);
    const found = await Promise.all(others.map((name) => this.#find(name)));
    const names = found.flatMap((other) => (other?.workspace === workspace ? other.entries : []));
    return new Set(names.map(({ name }) => name));
  }

  async #find(box: string): Promise<StandIns | undefined> {
    const text = await readFile(this.#path(box), "utf8").catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as StandIns);
  }

  async #write(box: string, standIns: StandIns): Promise<void> {
    await mkdir(dirname(this.#path(box)), { recursive: true, mode: 0o700 });
    await writeFile(this.#path(box), JSON.stringify(standIns), { mode: 0o600 });
  }
}

/**
 * Where a file system takes `.GIT` for `.git`, or the files are copied to one that does, the other spelling counts too.
 */
function isGuarded(name: string, { entries, suffixes }: Asked): boolean {
  const lower = name.toLowerCase();
  return (
    entries.some((entry) => entry.name.toLowerCase() === lower) ||
    suffixes.some((suffix) => lower.endsWith(suffix))
  );
}

/**
 * SECURITY: where git finds no repository in `.git`, it looks whether the directory itself is one, and the box could make it
 * one with a config of its own. A HEAD that git would read needs only the rest beside it.
 */
async function withBareRepository(workspace: string, guarded: Asked): Promise<Asked> {
  const kindOf = async (name: string) => lstat(join(workspace, name)).catch(() => undefined);
  if ((await kindOf(".git"))?.isFile() || (await kindOf(".git/HEAD")) !== undefined) return guarded;
  if ((await kindOf("HEAD"))?.isFile() && (await isReference(workspace)))
    throw cannotGuard(workspace, "HEAD", "makes it a git repository without work tree");
  return { ...guarded, entries: [...guarded.entries, bareRepositoryEntry] };
}

async function isReference(workspace: string): Promise<boolean> {
  await using directory = await SafeDirectory.open(workspace);
  await using file = await directory.openFile("HEAD");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
  return /^(?:ref:|[0-9a-f]{40})/i.test(buffer.toString("latin1", 0, bytesRead));
}

/**
 * SECURITY: a mount on a link lands where it leads, and the link itself stays free to be replaced. So a link cannot be
 * guarded, and neither a socket nor a pipe has business there.
 */
async function checkKind(workspace: string, name: string): Promise<void> {
  const found = await lstat(join(workspace, name));
  if (found.isSymbolicLink()) throw cannotGuard(workspace, name, "is a symbolic link");
  if (!found.isFile() && !found.isDirectory()) throw cannotGuard(workspace, name, "is no file or directory");
}

/**
 * SECURITY: a directory can only be mounted over a directory. A `.git` that became a file since the box was made, as in a
 * linked work tree, would leave the box without its own and say nothing.
 */
async function checkOwnGit(workspace: string, ownGit: string): Promise<void> {
  const found = await lstat(join(workspace, ".git")).catch(() => undefined);
  if (found !== undefined && !found.isDirectory())
    throw cannotGuard(workspace, ".git", "is no directory any more");
  if ((await lstat(ownGit).catch(() => undefined))?.isDirectory() === true) return;
  throw new AgentBoxError("workspace.source_invalid", `The git directory of the box is gone: ${ownGit}.`, {
    hint: "Remove the box and make a new one.",
  });
}

/** Belongs to whom the directory belongs to, and is never written through a link: the name is new or this fails. */
async function makeStandIn(workspace: string, { name, standIn }: GuardedEntry): Promise<void> {
  await using directory = await SafeDirectory.open(workspace);
  const path = directory.at(name);
  try {
    if (standIn === "directory") await mkdir(path, { mode: 0o755 });
    else await writeFile(path, standIn.text, { flag: "wx", mode: 0o644 });
  } catch (error) {
    throw cannotGuard(workspace, name, `is absent and cannot be covered (${messageOf(error)})`);
  }
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await lstat(workspace);
  await lchown(path, uid, gid);
}

/** A stand-in that has changed is a person's work, and stays. */
async function removeStandIn(workspace: string, { name, standIn }: GuardedEntry): Promise<void> {
  const directory = await SafeDirectory.open(workspace).catch(() => undefined);
  if (directory === undefined) return;
  try {
    if (standIn === "directory") return await rmdir(directory.at(name));
    if (await holds(directory, name, standIn.text)) await rm(directory.at(name));
  } catch (error) {
    const changed = ["ENOENT", "ENOTEMPTY", "ENOTDIR", "EISDIR", "EEXIST", "ELOOP"];
    if (!changed.includes(systemCode(error) ?? "")) throw error;
  } finally {
    await directory[Symbol.asyncDispose]();
  }
}

async function holds(directory: SafeDirectory, name: string, text: string): Promise<boolean> {
  const file = await directory.openFile(name);
  try {
    const { size } = await file.stat();
    return size === Buffer.byteLength(text) && (await file.readFile("utf8")) === text;
  } finally {
    await file.close();
  }
}
