/**
 * Lets a box of a root daemon write a directory of the host that belongs to another user: the directory is mounted once
 * more with its owner mapped to the box's user (an idmapped mount, Linux 5.12), and that is what the box gets. Files
 * that the box makes there belong to the directory's owner on the host. Files of others stay closed to it. Where the
 * kernel or the file system cannot map, the box is refused: it would find a directory in which it cannot write, and git
 * would not trust.
 */
import { createHash } from "node:crypto";
import { access, constants, mkdir, open, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { type BoxOwner, boxNamePattern, type MountSpec } from "../../contract/box.ts";
import { ensureDirectory } from "../../host/files.ts";
import { run } from "../../host/run.ts";
import type { RuntimeBox } from "../../ports/runtime.ts";

/** Where unshare(2) is in the kernel's table; the other calls have one number everywhere. */
const unshareNumbers: Readonly<Record<string, number>> = { x64: 272, arm64: 97 };

/**
 * Node has no way to these system calls, and mount(8) knows them only from 2.39 on; Perl's base is part of every Debian.
 * A child makes the user namespace that holds the map; the mount keeps it when the child is gone.
 */
const mapMount = `
use strict;
my ($unshare, $source, $target, @maps) = @ARGV;
$_ .= "\\0" for $source, $target;
my $empty = "\\0";
pipe(my $ready, my $tell) && pipe(my $wait, my $release) or die "pipe: $!";
defined(my $pid = fork) or die "fork: $!";
if (!$pid) {
  close $release;
  syswrite $tell, syscall($unshare + 0, 0x10000000) == 0 ? "ok" : "a user namespace: $!";
  close $tell;
  <$wait>;
  exit;
}
close $tell;
my $answer = <$ready>;
$answer eq "ok" or die "$answer\\n";
for my $kind ("uid", "gid") {
  my $map = shift @maps;
  open(my $file, ">", "/proc/$pid/" . $kind . "_map") or die "$kind map: $!\\n";
  syswrite($file, $map) or die "$kind map: $!\\n";
}
open(my $namespace, "<", "/proc/$pid/ns/user") or die "namespace: $!\\n";
my $tree = syscall(428, -100, $source, 0x1 | 0x100 | 0x8000 | 0x80000);
$tree >= 0 or die "open_tree: $!\\n";
my $attributes = pack("QQQQ", 0x100000 | 0x2 | 0x4, 0, 0, fileno $namespace);
syscall(442, $tree, $empty, 0x1000 | 0x8000, $attributes, length $attributes) == 0 or die "mount_setattr: $!\\n";
syscall(429, $tree, $empty, -100, $target, 0x4) == 0 or die "move_mount: $!\\n";
close $release;
waitpid $pid, 0;
`;

// SECURITY: a fixed place, not $PATH: the daemon runs it as root.
const perl = "/usr/bin/perl";

const mapsRoot = "/run/agentbox";
const ownerMap = new RegExp(
  `^${mapsRoot}/[0-9a-f]{12}/${boxNamePattern.source.slice(1, -1)}/(workspace|mount-\\d+)(/|$)`,
);

/** Whether a path is or lies in a directory that was mapped here: the one part of /run that a box may see. */
export const isOwnerMap = (path: string): boolean => ownerMap.test(path) && !path.split("/").includes("..");

export class OwnerMaps {
  readonly #root: string;
  readonly #uid: number;

  constructor(boxesDir: string, uid = process.getuid?.() ?? -1) {
    // Not below AGENTBOX_HOME: a person who removes that by hand must not remove what is mounted there.
    const installation = createHash("sha256").update(boxesDir).digest("hex").slice(0, 12);
    this.#root = join(mapsRoot, installation);
    this.#uid = uid;
  }

  #dir(box: string): string {
    return join(this.#root, box);
  }

  /** The box with each directory that it may write in the place where its own user owns it. */
  async raise(box: RuntimeBox): Promise<RuntimeBox> {
    await this.lower(box.name);
    const workspace =
      box.guarded === undefined ? box.dirs.workspace : await this.#map(box, box.dirs.workspace, "workspace");
    const mounts: MountSpec[] = [];
    for (const [index, mount] of box.mounts.entries()) {
      const source = mount.readOnly ? mount.source : await this.#map(box, mount.source, `mount-${index}`);
      mounts.push({ ...mount, source });
    }
    return { ...box, dirs: { ...box.dirs, workspace }, mounts };
  }

  /** Idempotent; the box does not live any more. */
  async lower(box: string): Promise<void> {
    const dir = this.#dir(box);
    if (this.#uid !== 0 || (await stat(dir).catch(() => undefined)) === undefined) return;
    // The end of a box is seen by several at once: what one has taken away, the others need not.
    const names = await readdir(dir).catch(() => []);
    for (const name of names) await run(["umount", "--lazy", "--no-canonicalize", join(dir, name)]);
    // SECURITY: never what lies in a directory of the host: a mount point that is still covered is busy and stays.
    for (const name of names) {
      const path = join(dir, name);
      const isDirectory = await stat(path).then(
        (found) => found.isDirectory(),
        () => undefined,
      );
      if (isDirectory !== undefined) await (isDirectory ? rmdir(path) : rm(path)).catch(() => undefined);
    }
    await rmdir(dir).catch(() => undefined);
  }

  async #map(box: RuntimeBox, source: string, name: string): Promise<string> {
    const { uid, gid, dev, ino, isDirectory } = await factsOf(source);
    if (this.#uid !== 0) return await requireWritable(source, uid, this.#uid);
    if (uid === box.owner.uid) return source;
    const target = join(this.#dir(box.name), name);
    // The box's user must be able to pass through, under any umask of the daemon.
    const dir = this.#dir(box.name);
    for (const path of [dirname(this.#root), this.#root, dir]) await ensureDirectory(path, { mode: 0o711 });
    if (isDirectory) await mkdir(target, { mode: 0o700 });
    else await (await open(target, "wx", 0o600)).close();
    const problem = await mapOwner(source, target, { uid, gid }, box.owner);
    if (problem !== undefined) throw notMapped(source, uid, box.owner.uid, problem);
    // SECURITY: the directory that was checked is the one that is mounted, even if another user renames parts of the
    // path.
    const mounted = await stat(target, { bigint: true });
    if (mounted.dev === dev && mounted.ino === ino) return target;
    await this.lower(box.name);
    throw notMapped(source, uid, box.owner.uid, "it was replaced meanwhile");
  }
}

async function factsOf(source: string) {
  const found = await stat(source, { bigint: true });
  const { dev, ino } = found;
  return { uid: Number(found.uid), gid: Number(found.gid), dev, ino, isDirectory: found.isDirectory() };
}

/** A person's own daemon cannot map anything, and rarely needs to: its boxes are that person. */
async function requireWritable(source: string, owner: number, uid: number): Promise<string> {
  if (owner === uid) return source;
  try {
    await access(source, constants.W_OK);
    return source;
  } catch {
    throw notMapped(source, owner, uid, "only a daemon that runs as root can map owners");
  }
}

/** Undefined when it worked, otherwise why not. */
async function mapOwner(
  source: string,
  target: string,
  from: BoxOwner,
  to: BoxOwner,
): Promise<string | undefined> {
  const number = unshareNumbers[process.arch];
  if (number === undefined) return `there is no way to map owners on ${process.arch} processors`;
  const maps = [mapOf(from.uid, to.uid), mapOf(from.gid, to.gid)] as const;
  try {
    const { code, stderr } = await run([perl, "-e", mapMount, String(number), source, target, ...maps]);
    return code === 0 ? undefined : (stderr.trim().split("\n")[0] ?? `it ended with ${code}`);
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * gVisor makes files as root and gives them away, so root needs a number in the directory as well: its own, or that of
 * `nobody` where the directory is root's. No box is root, so this opens nothing to it.
 */
const mapOf = (owner: number, boxUser: number): string =>
  `${owner} ${boxUser} 1\n${owner === 0 ? 65_534 : 0} 0 1\n`;

const notMapped = (source: string, owner: number, uid: number, problem: string): AgentBoxError =>
  new AgentBoxError(
    "workspace.source_invalid",
    `${source} belongs to user ${owner}, the box would run as user ${uid}, and the owner cannot be mapped here (${problem}).`,
    {
      hint: 'Use workspace.mode = "clone", which needs no mount, or run the daemon as the owner of the directory.',
      facts: { source, owner, problem },
    },
  );
