/**
 * Container engines for tests: started when the first test asks, one of a kind for the whole run, in a directory of
 * its own; the global set-up stops them by pid and leaves no mount, control group or file behind.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { waitFor } from "../../src/base/wait-for.ts";
import { runscName, runscRegistration } from "../../src/contract/gvisor-registration.ts";
import { engineRequest } from "./engine-request.ts";
import { type EngineKind, enginesDirectory, recordOf, type StartedEngine } from "./engine-records.ts";
import { asUserArgv, hasProgram, isRoot, ordinaryUser } from "./host-facts.ts";

export type { EngineKind, StartedEngine } from "./engine-records.ts";

/** The user whose engine the rootless one is: the tests' own, or an ordinary one when they run as root. */
export const rootlessUser = isRoot ? ordinaryUser : { uid: process.getuid!(), gid: process.getgid!() };

const neededPrograms: Readonly<Record<EngineKind, readonly string[]>> = {
  docker: ["dockerd", "containerd", "runc"],
  "docker-remap": ["dockerd", "containerd", "runc", "unshare"],
  "docker-rootless": ["dockerd", "containerd", "runc", "rootlesskit", "newuidmap", "setpriv", "unshare"],
  podman: ["podman", "conmon", "runc"],
  "podman-rootless": ["podman", "conmon", "newuidmap", "slirp4netns", "setpriv", "unshare", "runc"],
};

/** Why there is no such engine for tests here, or undefined when there is. For `itUnless`. */
export function engineUnavailable(kind: EngineKind): string | undefined {
  // Its ids come from a file that only root may put in place, and dockerd is a program of root's anyway.
  if (!isRoot) return "only root can start an engine of its own";
  const missing = neededPrograms[kind].filter((program) => !hasProgram(program));
  return missing.length === 0 ? undefined : `not installed: ${missing.join(", ")}`;
}

/** Why gVisor cannot run here, or undefined when it can. */
export const gvisorUnavailable = (): string | undefined =>
  engineUnavailable("docker") ?? (hasProgram("runsc") ? undefined : "not installed: runsc");

export interface Launch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export function launchDocker(directory: string, socket: string): Launch {
  const runsc = ["/usr/bin/runsc", "/usr/local/bin/runsc"].find((path) => existsSync(path));
  const runtimes = runsc === undefined ? {} : { [runscName]: runscRegistration(runsc) };
  writeFileSync(join(directory, "daemon.json"), JSON.stringify({ runtimes }));
  const options = {
    host: `unix://${socket}`,
    "config-file": join(directory, "daemon.json"),
    "data-root": join(directory, "data"),
    "exec-root": join(directory, "exec"),
    pidfile: join(directory, "pid"),
    "cgroup-parent": cgroupParent(directory),
    bridge: "none",
    iptables: "false",
    ip6tables: "false",
    "log-level": "warn",
  };
  const argv = ["dockerd", ...Object.entries(options).map(([name, value]) => `--${name}=${value}`)];
  return { argv, env: {} };
}

/** Which user of this host root is in containers of the engine that maps users. */
export const remappedRoot = 300_000;

/** The same, with `userns-remap`. */
function launchDockerRemap(directory: string, socket: string): Launch {
  const { argv, env } = launchDocker(directory, socket);
  return { argv: [...withRange(directory, "daemon", remappedRoot), ...argv, "--userns-remap=daemon"], env };
}

/** An ordinary user's, as dockerd-rootless.sh starts it, but without a network for its containers. */
function launchDockerRootless(directory: string, socket: string, user: { uid: number; gid: number }): Launch {
  const [home, run] = makeDirectories(directory, user);
  const name = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((line) => line.split(":")[2] === `${user.uid}`);
  const { argv } = launchDocker(directory, socket);
  // A link into the host's own would be a reason to refuse to start.
  const script = 'rm -f /run/docker /run/containerd /run/xtables.lock; exec "$0" "$@"';
  const inside = ["rootlesskit", "--net=host", "--copy-up=/etc", "--copy-up=/run", "sh", "-c", script];
  const docker = [...argv, "--rootless", "--storage-driver=vfs"];
  const range = withRange(directory, name?.split(":")[0] ?? user.uid, 700_000);
  return {
    argv: [...range, ...asEngineUser(user), ...inside, ...docker],
    env: { HOME: home, XDG_RUNTIME_DIR: run },
  };
}

/** newuidmap is set-uid: without the way to more rights that this user's own shell has, it could not work. */
const asEngineUser = (user: { uid: number; gid: number }): readonly string[] =>
  asUserArgv(user).filter((argument) => argument !== "--no-new-privs");

function makeDirectories(
  directory: string,
  user: { uid: number; gid: number } | undefined,
): readonly [string, string] {
  const directories = [join(directory, "home"), join(directory, "run")] as const;
  for (const path of directories) {
    mkdirSync(path, { mode: 0o700 });
    if (user) chownSync(path, user.uid, user.gid);
  }
  return directories;
}

/** A range of ids for its containers, seen by this engine alone: the host's own /etc/subuid stays as it is. */
function withRange(directory: string, user: string | number, first: number): readonly string[] {
  for (const name of ["subuid", "subgid"]) writeFileSync(join(directory, name), `${user}:${first}:65536\n`);
  const script = 'mount --bind "$0/subuid" /etc/subuid && mount --bind "$0/subgid" /etc/subgid && exec "$@"';
  return ["unshare", "--mount", "--propagation", "slave", "sh", "-c", script, directory];
}

/** A control group of this engine's own, so that it can be removed with it. */
export const cgroupParent = (directory: string): string => `/${directory.split("/").pop()}`;

function launchPodman(
  directory: string,
  socket: string,
  user: { uid: number; gid: number } | undefined,
): Launch {
  const [home, run] = makeDirectories(directory, user);
  const conf = join(directory, "containers.conf");
  // crun refuses machines that have both versions of control groups mounted; runc does not.
  const runtime = existsSync("/sys/fs/cgroup/cgroup.controllers") && hasProgram("crun") ? "crun" : "runc";
  writeFileSync(
    conf,
    `[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "${runtime}"\n`,
  );
  const podman = ["podman", "--root", join(home, "storage"), "--runroot", join(run, "storage")];
  const service = [
    ...podman,
    "--storage-driver",
    "overlay",
    "system",
    "service",
    "--time=0",
    `unix://${socket}`,
  ];
  const env = { HOME: home, XDG_RUNTIME_DIR: run, CONTAINERS_CONF: conf };
  if (!user) return { argv: service, env };
  return { argv: [...withRange(directory, user.uid, 700_000), ...asEngineUser(user), ...service], env };
}

/** Its own process group, which outlives the test process that asked first; what it says goes into the directory's log. */
export function spawnEngine(directory: string, { argv, env }: Launch): ChildProcess {
  const log = openSync(join(directory, "log"), "a");
  const child = spawn(argv[0]!, argv.slice(1), {
    detached: true,
    cwd: "/",
    stdio: ["ignore", log, log],
    env: { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin`, ...env },
  });
  closeSync(log);
  child.unref();
  return child;
}

export const isAnswering = async (socket: string): Promise<boolean> =>
  existsSync(socket) && (await engineRequest(socket, "GET", "/_ping").catch(() => undefined))?.status === 200;

const launches: Readonly<Record<EngineKind, (directory: string, socket: string) => Launch>> = {
  docker: launchDocker,
  "docker-remap": launchDockerRemap,
  "docker-rootless": (directory, socket) => launchDockerRootless(directory, socket, rootlessUser),
  podman: (directory, socket) => launchPodman(directory, socket, undefined),
  "podman-rootless": (directory, socket) => launchPodman(directory, socket, rootlessUser),
};

async function launch(kind: EngineKind): Promise<StartedEngine> {
  // Short, because the path of a unix socket below it must fit in 108 bytes.
  const directory = mkdtempSync("/tmp/abx-e-");
  const user = kind.endsWith("-rootless") ? rootlessUser : undefined;
  chmodSync(directory, 0o755);
  if (user) chownSync(directory, user.uid, user.gid);
  const socket = join(directory, "e.sock");
  const { argv, env } = launches[kind](directory, socket);
  const child = spawnEngine(directory, { argv, env });
  const engine = { kind, pid: child.pid ?? -1, directory, socket, cgroup: cgroupParent(directory) };
  writeFileSync(recordOf(kind), JSON.stringify(engine));
  await waitFor(
    `${kind} answers`,
    async () => {
      if (child.exitCode !== null)
        throw new Error(`${kind} ended:\n${readFileSync(join(directory, "log"), "utf8").slice(-4000)}`);
      return isAnswering(socket);
    },
    30_000,
  );
  return engine;
}

const readRecord = (kind: EngineKind): StartedEngine | undefined =>
  existsSync(recordOf(kind))
    ? (JSON.parse(readFileSync(recordOf(kind), "utf8")) as StartedEngine)
    : undefined;

/** The engine of this kind that the whole run shares; the first that asks starts it. */
export async function startEngine(kind: EngineKind): Promise<StartedEngine> {
  const lock = join(enginesDirectory(), `${kind}.lock`);
  try {
    mkdirSync(lock);
  } catch {
    // Another test process starts it, or has.
    return waitFor(
      `${kind} was started`,
      async () => {
        const engine = readRecord(kind);
        return engine && (await isAnswering(engine.socket)) ? engine : undefined;
      },
      60_000,
    );
  }
  try {
    return await launch(kind);
  } catch (error) {
    rmSync(lock, { recursive: true });
    throw error;
  }
}

export const startDocker = (): Promise<StartedEngine> => startEngine("docker");
export const startPodmanRootless = (): Promise<StartedEngine> => startEngine("podman-rootless");
