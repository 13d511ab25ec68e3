/**
 * The argv that makes a box, as a pure function. Two bubblewraps, one in the other: the outer makes the network
 * namespace while it has power over it (so that boxd may listen on port 53), the inner makes everything else and has
 * power over nothing.
 */
import {
  boxPaths,
  boxUser,
  type BoxOwner,
  type MountSpec,
  type ResourceSpec,
  type SecurityException,
} from "../../../contract/box.ts";
import type { BoxDirs, BoxTools, ShownDirectory } from "../../../ports/runtime.ts";
import { boxEnv, secretBytes, serverDirs, shmSize, tmpSize } from "../box-baseline.ts";
import type { Placement } from "./limits/limiter.ts";
import type { SystemFile } from "../system-files.ts";
import type { SystemLayout } from "../system-layout.ts";

export interface Programs {
  readonly sh: string;
  readonly bwrap: string;
  readonly setpriv: string;
}

/** Numbers of descriptors in the child. */
export interface LaunchDescriptors {
  readonly status: number;
  readonly seccomp: number;
  readonly files: readonly { readonly path: string; readonly fd: number }[];
}

export interface LaunchInput {
  readonly name: string;
  readonly dirs: BoxDirs;
  readonly tools: BoxTools;
  /** Already checked, sources resolved. */
  readonly mounts: readonly MountSpec[];
  /** Toolchains, checked and within reach, and files in the place of those in them that hold credentials. */
  readonly shown?: readonly ShownDirectory[] | undefined;
  readonly masks?: readonly SystemFile[] | undefined;
  /** Only those that this runtime can do: more directories in memory. */
  readonly exceptions?: readonly SecurityException[] | undefined;
  /** Names in the workspace that are there, and that the box may not change. */
  readonly guardedNames: readonly string[];
  /** In place of the workspace's `.git`. */
  readonly ownGit?: string | undefined;
  readonly resources: ResourceSpec;
  /** Already checked: each covers a file of the layout, or stands where the layout has nothing. */
  readonly files: readonly SystemFile[];
  readonly layout: SystemLayout;
  readonly programs: Programs;
  readonly placement: Placement;
  readonly descriptors: LaunchDescriptors;
  /** Whom to become first; undefined when the daemon is an ordinary user already. */
  readonly become: BoxOwner | undefined;
  /** The program in the box; boxd, or a trial. */
  readonly command: readonly string[];
}

// SECURITY: shell texts are constants. Everything that varies is a positional argument, so no path or name is parsed.
/** Joins the control groups named before `--`, then becomes the rest. */
const enterScript = 'while [ "$1" != "--" ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"';
/** Lets the box listen on low ports, and makes it the kernel's first choice when the host runs out of memory. */
const networkScript =
  'umask 022; echo 500 2>/dev/null > /proc/self/oom_score_adj; echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start && exec "$@"';

export function launchArgv(input: LaunchInput): readonly [string, ...string[]] {
  const { programs, placement } = input;
  const chain = [
    ...dropArgv(input),
    ...placement.aroundChain,
    ...outerArgv(programs),
    ...placement.aroundBox,
  ];
  const argv = [...chain, ...boxArgv(input), "--", ...input.command];
  const enter =
    placement.enter.length === 0 ? [] : [programs.sh, "-c", enterScript, "enter", ...placement.enter, "--"];
  return [...enter, ...argv] as unknown as [string, ...string[]];
}

/**
 * SECURITY: root drops to the box's own user before bubblewrap. A root-owned box without capabilities could still
 * read what root owns.
 */
function dropArgv({ become, programs }: LaunchInput): readonly string[] {
  if (become === undefined) return [];
  return [
    programs.setpriv,
    "--reuid",
    String(become.uid),
    "--regid",
    String(become.gid),
    "--clear-groups",
    "--inh-caps=-all",
    "--",
  ];
}

function outerArgv({ bwrap, sh }: Programs): readonly string[] {
  return [
    bwrap,
    "--unshare-user",
    "--unshare-net",
    "--uid",
    "0",
    "--gid",
    "0",
    "--dev-bind",
    "/",
    "/",
    "--cap-drop",
    "ALL",
    // For the low ports, and for the inner bubblewrap, which maps this namespace's uid 0.
    "--cap-add",
    "CAP_NET_ADMIN",
    "--cap-add",
    "CAP_SETFCAP",
    "--",
    sh,
    "-c",
    networkScript,
    "network",
  ];
}

function boxArgv(input: LaunchInput): readonly string[] {
  const { name, descriptors, dirs, tools } = input;
  return [
    input.programs.bwrap,
    "--unshare-user",
    "--uid",
    String(boxUser.uid),
    "--gid",
    String(boxUser.gid),
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--hostname",
    name,
    "--new-session",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
    "--seccomp",
    String(descriptors.seccomp),
    "--json-status-fd",
    String(descriptors.status),
    "--clearenv",
    ...Object.entries(boxEnv).flatMap(([key, value]) => ["--setenv", key, value]),
    ...systemArgv(input),
    ...bind("--bind", dirs.home, boxPaths.home),
    ...bind("--bind", dirs.workspace, boxPaths.workspace),
    // SECURITY: a mount of its own cannot be renamed, removed or replaced either, and so its name is taken for good.
    ...input.guardedNames.flatMap((entry) =>
      bind("--ro-bind", `${dirs.workspace}/${entry}`, `${boxPaths.workspace}/${entry}`),
    ),
    ...(input.ownGit === undefined ? [] : bind("--bind", input.ownGit, `${boxPaths.workspace}/.git`)),
    // SECURITY: read-only, so that the box cannot put another socket or a link where the host listens.
    ...bind("--ro-bind", dirs.link, boxPaths.run),
    // After it, because the directory they are in would otherwise be made with the same narrow mode.
    ...tmpfs(boxPaths.secrets, secretBytes, "0700"),
    ...bind("--ro-bind", tools.node, boxPaths.node),
    ...bind("--ro-bind", tools.boxd, `${boxPaths.tools}/boxd`),
    ...Object.entries(tools.agents ?? {}).flatMap(([agent, directory]) =>
      bind("--ro-bind", directory, `${boxPaths.agents}/${agent}`),
    ),
    ...(tools.skills === undefined ? [] : bind("--ro-bind", tools.skills, boxPaths.skills)),
    ...(input.shown ?? []).flatMap(({ source, target }) => bind("--ro-bind", source, target)),
    // SECURITY: after the directories that they are in.
    ...(input.masks ?? []).flatMap(({ source, target }) => bind("--ro-bind", source, target)),
    ...input.mounts.flatMap((mount) =>
      bind(mount.readOnly ? "--ro-bind" : "--bind", mount.source, mount.target),
    ),
    ...(input.exceptions ?? []).flatMap((exception) =>
      Object.entries(exception.tmpfs).flatMap(([path, bytes]) => tmpfs(path, bytes)),
    ),
    // Last, because mount points are made in it.
    "--remount-ro",
    "/",
    "--chdir",
    boxPaths.workspace,
  ];
}

const bind = (how: "--bind" | "--ro-bind", source: string, target: string): readonly string[] => [
  how,
  source,
  target,
];

const tmpfs = (target: string, bytes: number, mode = "1777"): readonly string[] => [
  "--perms",
  mode,
  "--size",
  String(bytes),
  "--tmpfs",
  target,
];

function systemArgv({ layout, files, descriptors, resources }: LaunchInput): readonly string[] {
  return [
    ...layout.entries.flatMap((entry) =>
      entry.kind === "bind"
        ? bind("--ro-bind", entry.source ?? entry.path, entry.path)
        : ["--symlink", entry.target, entry.path],
    ),
    // After the directories they are in, which would cover them otherwise.
    ...files.flatMap(({ source, target }) => bind("--ro-bind", source, target)),
    ...descriptors.files.flatMap(({ path, fd }) => ["--perms", "0644", "--file", String(fd), path]),
    "--symlink",
    "/proc/self/mounts",
    "/etc/mtab",
    "--proc",
    "/proc",
    // SECURITY: the box's user owns its namespaces' switches (message queues, shared memory, pid_max) and could turn
    // them without any capability. bubblewrap covers this directory only where the directory itself can be written.
    ...bind("--ro-bind", "/proc/sys", "/proc/sys"),
    ...layout.maskedFiles.flatMap((path) => bind("--ro-bind", "/dev/null", path)),
    "--dev",
    "/dev",
    ...tmpfs("/dev/shm", shmSize(resources)),
    "--remount-ro",
    "/dev",
    ...tmpfs("/tmp", tmpSize(resources)),
    ...tmpfs("/var/tmp", tmpSize(resources)),
    ...serverDirs(resources).flatMap(([path, bytes]) => tmpfs(path, bytes, "0755")),
    "--symlink",
    "/run",
    "/var/run",
    "--symlink",
    "/run/lock",
    "/var/lock",
  ];
}

/** The argument that only the processes of this box's chain have, for finding them again. */
export const chainMark = (linkDir: string): readonly [string, string, string] => [
  "--ro-bind",
  linkDir,
  boxPaths.run,
];
