/**
 * Checks the request to an engine and lists the parts that must never be in it. Pure, and apart from the code that
 * makes it: a mistake there is found here before any engine sees it. Unknown parts are forbidden.
 */
import { boxPaths } from "../../../contract/box.ts";
import { isOwnerMap } from "../owner-maps.ts";
import { isWithin } from "../../../contract/mount-paths.ts";
import type { ContainerBody, ContainerHostConfig } from "./container-config.ts";

/** Exceptions granted by name and with a reason. */
export interface Granted {
  readonly devices: readonly string[];
  readonly capabilities: readonly string[];
  /** Toolchains that a person has agreed to show, by their real path. */
  readonly directories?: readonly string[] | undefined;
  readonly gpus: number;
}

const knownBodyKeys = [
  "AttachStderr",
  "AttachStdin",
  "AttachStdout",
  "Cmd",
  "Entrypoint",
  "Env",
  "HostConfig",
  "Hostname",
  "Image",
  "Labels",
  "OpenStdin",
  "Tty",
  "User",
  "WorkingDir",
];

const knownHostKeys = [
  "CapAdd",
  "CapDrop",
  "CgroupnsMode",
  "DeviceRequests",
  "Devices",
  "IpcMode",
  "LogConfig",
  "Memory",
  "MemorySwap",
  "Mounts",
  "NanoCpus",
  "NetworkMode",
  "OomScoreAdj",
  "PidsLimit",
  "ReadonlyRootfs",
  "RestartPolicy",
  "Runtime",
  "SecurityOpt",
  "ShmSize",
  "Sysctls",
  "Tmpfs",
  "Ulimits",
  "UsernsMode",
];

/** Each of these is the host, or a way to it. No reason is good enough. */
const neverCapabilities = [
  "ALL",
  "BPF",
  "DAC_OVERRIDE",
  "DAC_READ_SEARCH",
  "MAC_ADMIN",
  "MAC_OVERRIDE",
  "NET_ADMIN",
  "NET_RAW",
  "PERFMON",
  "SETGID",
  "SETUID",
  "SETFCAP",
  "SYSLOG",
  "SYS_ADMIN",
  "SYS_BOOT",
  "SYS_MODULE",
  "SYS_PTRACE",
  "SYS_RAWIO",
];

/** SECURITY: a program that speaks to one of these sockets is root on the host, or the engine's user. */
const engineSockets = ["docker.sock", "podman.sock", "containerd.sock", "crio.sock", "buildkitd.sock"];
const hostDirs = ["/proc", "/sys", "/dev", "/run", "/var/run", "/boot", "/root", "/etc/shadow"];

const secretsVolume = /^agentbox-[0-9a-f]{12}-[a-z0-9-]+-secrets$/;

export function forbiddenSettings(
  body: ContainerBody,
  granted: Granted = { devices: [], capabilities: [], gpus: 0 },
): readonly string[] {
  const host = body.HostConfig;
  return [
    ...unknownKeys(body, knownBodyKeys),
    ...unknownKeys(host, knownHostKeys),
    ...userProblems(body.User ?? ""),
    ...namespaceProblems(host),
    ...rightProblems(host, granted),
    ...securityProblems(host.SecurityOpt ?? []),
    ...(host.ReadonlyRootfs === true ? [] : ["its root is writable"]),
    ...(host.RestartPolicy?.Name === "no" ? [] : ["the engine would start it again by itself"]),
    ...Object.keys(host.Sysctls ?? {})
      .filter((name) => name !== "net.ipv4.ip_unprivileged_port_start")
      .map((name) => `it sets ${name}`),
    ...mountProblems(host, granted),
    ...tmpfsProblems(host.Tmpfs),
  ];
}

const unknownKeys = (object: object, known: readonly string[]): readonly string[] =>
  Object.keys(object)
    .filter((key) => !known.includes(key))
    .map((key) => `it has the setting ${key}`);

function userProblems(user: string): readonly string[] {
  const [uid, gid] = user.split(":").map(Number);
  const isPlain = /^\d+:\d+$/.test(user);
  return isPlain && uid! >= 1000 && gid! >= 1000 ? [] : [`its user is ${JSON.stringify(user)}`];
}

function namespaceProblems(host: ContainerHostConfig): readonly string[] {
  const wanted = { NetworkMode: "none", IpcMode: "private", CgroupnsMode: "private" } as const;
  const problems = Object.entries(wanted)
    .filter(([key, value]) => host[key as keyof typeof wanted] !== value)
    .map(([key, value]) => `${key} is not ${value}`);
  const users = host.UsernsMode;
  if (users !== undefined && !/^keep-id:uid=[1-9]\d*,gid=[1-9]\d*$/.test(users))
    problems.push(`UsernsMode is ${users}`);
  return problems;
}

function rightProblems(host: ContainerHostConfig, granted: Granted): readonly string[] {
  const problems: string[] = [];
  if (host.CapDrop?.length !== 1 || host.CapDrop[0] !== "ALL") problems.push("it keeps capabilities");
  for (const name of ((host.CapAdd ?? []) as readonly string[]).map((capability) =>
    capability.replace(/^CAP_/, ""),
  )) {
    if (neverCapabilities.includes(name)) problems.push(`it has the capability ${name}`);
    else if (!granted.capabilities.some((given) => given.replace(/^CAP_/, "") === name))
      problems.push(`not granted: the capability ${name}`);
  }
  for (const device of (host.Devices ?? []) as readonly { PathOnHost: string }[]) {
    if (!granted.devices.includes(device.PathOnHost)) problems.push(`not granted: ${device.PathOnHost}`);
  }
  const gpus = (host.DeviceRequests ?? []).reduce((sum, request) => sum + (request.Count ?? 0), 0);
  if (gpus > granted.gpus || gpus < 0) problems.push("not granted: that many graphics processors");
  return problems;
}

function securityProblems(options: readonly string[]): readonly string[] {
  const problems: string[] = [];
  if (!options.includes("no-new-privileges:true")) problems.push("it could gain privileges");
  const profiles = options.filter((option) => option.startsWith("seccomp="));
  if (profiles.length !== 1 || !/^seccomp=[{/]/.test(profiles[0]!))
    problems.push("it has no seccomp profile");
  for (const option of options)
    if (!/^(?:no-new-privileges:true$|seccomp=)/.test(option)) problems.push(`it has the option ${option}`);
  return problems;
}

function mountProblems(host: ContainerHostConfig, { directories = [] }: Granted): readonly string[] {
  return (host.Mounts ?? []).flatMap((mount) => {
    const { Source: source, Target: target } = mount;
    const problems: string[] = [];
    // The one volume there is: the box's own, in memory, for its secrets.
    if (mount.Type === "volume" && target === boxPaths.secrets && secretsVolume.test(source)) return [];
    if (mount.Type !== "bind") problems.push(`the mount at ${target} is a ${mount.Type}`);
    if (mount.BindOptions?.Propagation !== "rprivate")
      problems.push(`mounts at ${target} would be seen outside`);
    if (!source.startsWith("/") || !target.startsWith("/"))
      problems.push(`${source} → ${target} is not absolute`);
    const isGranted = mount.ReadOnly === true && directories.includes(source) && source.startsWith("/root/");
    if (
      source === "/" ||
      (!isOwnerMap(source) && !isGranted && hostDirs.some((directory) => isWithin(source, directory)))
    )
      problems.push(`it sees the host's ${source}`);
    if (engineSockets.some((name) => source.endsWith(`/${name}`)))
      problems.push(`it sees the engine's ${source}`);
    const isSystem = ["/usr", "/bin", "/sbin", "/lib", "/etc", "/opt/agentbox", "/run"].some((directory) =>
      isWithin(target, directory),
    );
    if (isSystem && mount.ReadOnly !== true) problems.push(`${target} is writable`);
    return problems;
  });
}

const tmpfsProblems = (tmpfs: Record<string, string> = {}): readonly string[] =>
  Object.entries(tmpfs)
    .filter(([, options]) => !/(?:^|,)size=\d+/.test(options) || !options.includes("nosuid"))
    .map(([path]) => `the memory at ${path} has no bound, or honours set-user-id`);
