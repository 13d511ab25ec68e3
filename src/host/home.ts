/**
 * $AGENTBOX_HOME: the directory of one installation, which no other user can reach into. Owner-only, but for the parts
 * that the boxes of a root daemon must pass through: they have uids of their own.
 */
import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentBoxError, systemCode } from "../base/errors.ts";
import { ensureDirectory, pathKind } from "./files.ts";

export interface Home {
  /** The real path; links are resolved once, here. */
  readonly root: string;
  readonly store: string;
  readonly socket: string;
  readonly lock: string;
  readonly config: string;
  readonly logs: string;
  readonly boxes: string;
  readonly tools: string;
  /** A directory above that the boxes of a root daemon cannot pass, if there is one: they could not start. */
  readonly impassable: string | undefined;
}

export interface HomeOwner {
  readonly isRoot: boolean;
  readonly uid: number;
}

export interface HomeUser {
  readonly uid: number;
  /** Who called sudo. */
  readonly sudoUid: number | undefined;
}

/** The length of a unix socket address without its closing zero. */
const maxSocketPathBytes = 107;
const longestBoxName = 48;

export async function openHome(path: string, owner: HomeOwner): Promise<Home> {
  checkSocketPaths(path);
  await makeDirectories(path);
  await checkLink(path, owner);
  const root = await realpath(path);
  checkSocketPaths(root);
  await checkAncestors(root);
  await checkDirectory(root, owner);
  // A person's boxes have the person's own uid; root's have others, which may pass but not look.
  const passMode = owner.isRoot ? 0o711 : 0o700;
  const home = { ...homePaths(root), impassable: owner.isRoot ? await findImpassable(root) : undefined };
  await ensureDirectory(root, { mode: passMode });
  await ensureDirectory(home.logs, { mode: 0o700 });
  await ensureDirectory(home.boxes, { mode: passMode });
  await ensureDirectory(home.tools, { mode: passMode });
  return home;
}

/** The layout alone, for a client that only needs to know where the daemon's socket is. */
export const homePaths = (root: string): Omit<Home, "impassable"> => ({
  root,
  store: join(root, "state.db"),
  socket: join(root, "daemon.sock"),
  lock: join(root, "daemon.lock"),
  config: join(root, "config.toml"),
  logs: join(root, "logs"),
  boxes: join(root, "boxes"),
  tools: join(root, "tools"),
});

/**
 * For clients of the daemon there. SECURITY: in a directory like /tmp another user may have made it first, and would be
 * sent keys and values of secrets. An absent one belongs to no one.
 */
export async function requireOwnHome(path: string, { uid, sudoUid }: HomeUser): Promise<void> {
  const root = await realpath(path).catch(() => undefined);
  if (root === undefined) return;
  const found = await stat(root);
  const own = [0, uid, ...(uid === 0 && sudoUid !== undefined ? [sudoUid] : [])];
  if (!own.includes(found.uid)) throw unsafe(root, `belongs to user ${found.uid}, not to you`);
  if ((found.mode & 0o022) !== 0) throw unsafe(root, "can be written by others");
  await checkAncestors(root);
}

/** Not with `recursive`: Node tries for ever where mkdir itself answers "no such directory", as it does in /proc. */
async function makeDirectories(path: string): Promise<void> {
  for (const each of [...ancestors(path), path]) {
    try {
      await mkdir(each, { mode: 0o700 });
    } catch (error) {
      // For an existing directory the answer may also be "read-only" or "not permitted".
      if ((await pathKind(each)) === undefined) throw unsafe(each, `cannot be made (${systemCode(error)})`);
    }
  }
}

function checkSocketPaths(root: string): void {
  const paths = homePaths(root);
  const longest = join(paths.boxes, "x".repeat(longestBoxName), "link", "link.sock");
  const excess =
    Math.max(...[paths.socket, longest].map((path) => Buffer.byteLength(path))) - maxSocketPathBytes;
  if (excess <= 0) return;
  throw new AgentBoxError(
    "home.path_too_long",
    `AGENTBOX_HOME is ${excess} bytes too long for its sockets: ${root}`,
    {
      hint: "Choose a shorter directory, for example: export AGENTBOX_HOME=/tmp/agentbox-$USER",
      facts: { home: root, excessBytes: excess },
    },
  );
}

/** SECURITY: a link planted by another user would make us keep our state where they decide. */
async function checkLink(path: string, { uid }: HomeOwner): Promise<void> {
  const found = await lstat(path);
  if (found.isSymbolicLink() && found.uid !== uid && found.uid !== 0) {
    throw unsafe(path, "is a link that belongs to another user");
  }
}

async function checkDirectory(root: string, { uid }: HomeOwner): Promise<void> {
  const found = await stat(root);
  if (!found.isDirectory()) throw unsafe(root, "is not a directory");
  if (found.uid !== uid) throw unsafe(root, `belongs to user ${found.uid}, not to you`);
  // SECURITY: what others could write into may hold planted files already, so it is refused and not repaired.
  if ((found.mode & 0o022) !== 0) throw unsafe(root, "can be written by others");
}

/**
 * SECURITY: a user who can write a directory above can put another one in this one's place; /tmp's sticky bit stops
 * that.
 */
async function checkAncestors(root: string): Promise<void> {
  for (const path of ancestors(root)) {
    const { mode } = await stat(path);
    if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0)
      throw unsafe(path, "lies above and can be written by everybody");
  }
}

async function findImpassable(root: string): Promise<string | undefined> {
  for (const path of ancestors(root)) {
    if (((await stat(path)).mode & 0o001) === 0) return path;
  }
  return undefined;
}

/** Everything above, the root of the file system first. */
function ancestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...ancestors(parent), parent];
}

const unsafe = (path: string, problem: string): AgentBoxError =>
  new AgentBoxError("home.unsafe", `AGENTBOX_HOME cannot be used: ${path} ${problem}.`, {
    hint: "Choose a directory of your own that no other user can write.",
    facts: { path },
  });
