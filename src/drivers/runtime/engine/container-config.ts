/**
 * The request to an engine for a box, as a pure function. The baseline is here and is never removed: no root, no
 * capability, no network, a read-only root, private namespaces, and the list of calls that a box may not make.
 */
import type { ContainerCreateOptions, HostConfig, MountSettings } from "dockerode";
import { omitUndefined } from "../../../base/omit-undefined.ts";
import { boxPaths, boxUser, type BoxOwner } from "../../../contract/box.ts";
import { type EngineFacts, isOlderApi } from "../../../host/engine/facts.ts";
import type { RuntimeBox, ShownDirectory } from "../../../ports/runtime.ts";
import { boxEnv, secretBytes, serverDirs, shmSize, tmpSize } from "../box-baseline.ts";
import type { SystemFile } from "../system-files.ts";
import type { SystemLayout } from "../system-layout.ts";

/** The engine's types lack one setting. */
export type ContainerHostConfig = HostConfig & { CgroupnsMode?: string };
export type ContainerBody = Omit<ContainerCreateOptions, "HostConfig"> & { HostConfig: ContainerHostConfig };

export interface ContainerInput {
  /** Its mounts are checked, and its sources resolved. */
  readonly box: RuntimeBox;
  readonly image: string;
  /** The parts of the host's system that are shown; without entries for a box that has an image. */
  readonly layout: SystemLayout;
  /** Our files in place of the system's, checked. */
  readonly files: readonly SystemFile[];
  /** Toolchains, and files in the place of those in them that hold credentials; checked. */
  readonly shown?: readonly ShownDirectory[] | undefined;
  readonly masks?: readonly SystemFile[] | undefined;
  /** Names in the workspace that are there, and that the box may not change. */
  readonly guardedNames: readonly string[];
  /** In place of the workspace's `.git`. */
  readonly ownGit?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly facts: EngineFacts;
  /** The profile itself for Docker, the path of a file that holds it for Podman. */
  readonly seccomp: string;
  /** Where the engine cannot give memory to the box's user: a volume that it can. */
  readonly secretsVolume?: string | undefined;
  /** Another OCI runtime than the engine's own. */
  readonly ociRuntime?: string | undefined;
  /** In place of the box's number of processes, where the boundary's own threads are counted with them. */
  readonly threadCeiling?: number | undefined;
}

/**
 * The first process. It takes in orphans, passes on the request to end, and ends as boxd did; boxd starts with our
 * environment alone, because engines add variables of their own. A constant: nothing that varies is parsed by a shell.
 */
const firstProcess =
  `umask 022; exec >/dev/null; trap 'kill -TERM "$box"' TERM; "$@" & box=$!; ` +
  `while wait "$box"; code=$?; kill -0 "$box" 2>/dev/null; do :; done; exit "$code"`;

/** Whether the engine is told to map the box's user into a namespace of the box's own. */
const keepsUser = ({ kind, isRootless }: EngineFacts): boolean => kind === "podman" && isRootless;

/** Whether a box has a user namespace of its own. */
export const mapsUsers = (facts: EngineFacts): boolean =>
  keepsUser(facts) || (facts.kind === "docker" && facts.mappedFrom !== undefined);

/**
 * The user of the box's processes inside: the usual number where we choose how users are mapped, the owner's number in
 * there where the engine says it, or the host's own.
 */
export function userInside(facts: EngineFacts, owner: BoxOwner): BoxOwner {
  if (keepsUser(facts)) return { uid: boxUser.uid, gid: boxUser.gid };
  const { mappedFrom = 0 } = facts;
  return { uid: owner.uid - mappedFrom, gid: owner.gid - mappedFrom };
}

export function containerBody(input: ContainerInput): ContainerBody {
  const { box, facts } = input;
  const { uid, gid } = userInside(facts, box.owner);
  const environment = Object.entries(boxEnv).map(([name, value]) => `${name}=${value}`);
  const command = ["/usr/bin/env", "-i", ...environment, boxPaths.node, boxPaths.boxd];
  return {
    Image: input.image,
    Hostname: box.name,
    User: `${uid}:${gid}`,
    WorkingDir: boxPaths.workspace,
    Env: environment,
    Entrypoint: ["/bin/sh", "-c", firstProcess, "box", ...command],
    Cmd: [],
    Labels: { ...input.labels },
    Tty: false,
    OpenStdin: false,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    HostConfig: hostConfig(input, { uid, gid }),
  };
}

function hostConfig(input: ContainerInput, user: BoxOwner): ContainerHostConfig {
  const { box, facts } = input;
  const exceptions = box.exceptions ?? [];
  const devices = exceptions.flatMap((exception) => exception.devices);
  const gpus = exceptions.reduce((sum, exception) => sum + exception.gpus, 0);
  return {
    ReadonlyRootfs: true,
    CapDrop: ["ALL"],
    CapAdd: exceptions.flatMap((exception) => exception.capabilities),
    SecurityOpt: ["no-new-privileges:true", `seccomp=${input.seccomp}`],
    NetworkMode: "none",
    IpcMode: "private",
    CgroupnsMode: "private",
    // SECURITY: only ever set to give the box a namespace of its own, never to share the host's.
    ...(keepsUser(facts) ? { UsernsMode: `keep-id:uid=${boxUser.uid},gid=${boxUser.gid}` } : {}),
    ...omitUndefined({ Runtime: input.ociRuntime }),
    // The embedded boxes' namespaces give the same: boxd answers DNS on port 53 without any right.
    Sysctls: { "net.ipv4.ip_unprivileged_port_start": "0" },
    Tmpfs: tmpfsMounts(input, user),
    ShmSize: shmSize(box.resources),
    Mounts: bindMounts(input),
    ...limits(input),
    Ulimits: ulimits(facts),
    OomScoreAdj: 500,
    RestartPolicy: { Name: "no" },
    // Only what boxd says before the link is up; bounded, because the box decides how much that is.
    LogConfig: { Type: "json-file", Config: { "max-size": "64k", "max-file": "1" } },
    ...(devices.length === 0 ? {} : { Devices: devices.map(deviceMapping) }),
    ...(gpus === 0 ? {} : { DeviceRequests: [{ Driver: "", Count: gpus, Capabilities: [["gpu"]] }] }),
  };
}

const deviceMapping = (path: string) => ({
  PathOnHost: path,
  PathInContainer: path,
  CgroupPermissions: "rw",
});

function limits({ box: { resources }, facts, threadCeiling }: ContainerInput): HostConfig {
  const { cpus, memoryBytes } = resources;
  const pids = threadCeiling ?? resources.pids;
  return {
    ...(cpus === undefined || !facts.limits.cpus ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
    // As much swap as memory means none beyond it.
    ...(memoryBytes === undefined || !facts.limits.memory
      ? {}
      : { Memory: memoryBytes, MemorySwap: memoryBytes }),
    ...(pids === undefined || !facts.limits.pids ? {} : { PidsLimit: pids }),
  };
}

const rootPodmanLimits = { nofile: 16_384, nproc: 32_768 };

/** Podman as root raises what is not said beyond its own limits, and fails where root may not: in a container, say. */
function ulimits({ kind, isRootless }: EngineFacts): HostConfig["Ulimits"] {
  const more = kind === "podman" && !isRootless ? rootPodmanLimits : {};
  return Object.entries({ core: 0, ...more }).map(([Name, most]) => ({ Name, Soft: most, Hard: most }));
}

function tmpfsMounts({ box, secretsVolume }: ContainerInput, { uid, gid }: BoxOwner): Record<string, string> {
  const memory = (bytes: number, mode: string, more = ""): string =>
    `rw,nosuid,nodev,exec,size=${bytes},mode=${mode}${more}`;
  const scratch = memory(tmpSize(box.resources), "1777");
  // An image has files of its own in the others.
  const forServers = serverDirs(box.resources).filter(([path]) => box.image === undefined || path === "/run");
  const extra = (box.exceptions ?? []).flatMap((exception) => Object.entries(exception.tmpfs));
  return {
    // SECURITY: in place of the kernel's own, which tells about the host's hardware, disks and network.
    "/sys": "ro,nosuid,nodev,noexec,size=65536,mode=0555",
    "/tmp": scratch,
    "/var/tmp": scratch,
    ...Object.fromEntries(forServers.map(([path, bytes]) => [path, memory(bytes, "1777")])),
    ...(secretsVolume !== undefined
      ? {}
      : { [boxPaths.secrets]: memory(secretBytes, "0700", `,uid=${uid},gid=${gid}`) }),
    ...Object.fromEntries(extra.map(([path, bytes]) => [path, memory(bytes, "1777")])),
  };
}

/** SECURITY: as objects, never as `source:target` texts, in which a path with a colon would say something else. */
function bindMounts(input: ContainerInput): MountSettings[] {
  const { box, layout } = input;
  const { dirs, tools } = box;
  const system = layout.entries.flatMap((entry) =>
    entry.kind === "bind" ? [readOnly(entry.source ?? entry.path, entry.path)] : [],
  );
  return [
    ...system,
    ...input.files.map(({ source, target }) => readOnly(source, target)),
    writable(dirs.home, boxPaths.home),
    writable(dirs.workspace, boxPaths.workspace),
    // SECURITY: a mount of its own cannot be renamed, removed or replaced either, and so its name is taken for good.
    ...input.guardedNames
      .filter((name) => input.ownGit === undefined || name !== ".git")
      .map((name) => readOnly(`${dirs.workspace}/${name}`, `${boxPaths.workspace}/${name}`)),
    ...(input.ownGit === undefined ? [] : [writable(input.ownGit, `${boxPaths.workspace}/.git`)]),
    // SECURITY: read-only, so that the box cannot put another socket or a link where the host listens.
    readOnly(dirs.link, boxPaths.run),
    ...(input.secretsVolume === undefined ? [] : [volume(input.secretsVolume, boxPaths.secrets)]),
    // An image has them inside; what it lacks, boxd's own look at the artifacts tells.
    ...(box.image === undefined ? toolMounts(tools) : []),
    ...[...(input.shown ?? []), ...(input.masks ?? [])].map(({ source, target }) => readOnly(source, target)),
    ...box.mounts.map((mount) =>
      mount.readOnly ? closed(input.facts, mount.source, mount.target) : writable(mount.source, mount.target),
    ),
  ];
}

const volume = (name: string, target: string): MountSettings => ({
  Type: "volume",
  Source: name,
  Target: target,
  ReadOnly: false,
});

const bind = (source: string, target: string, isReadOnly: boolean): MountSettings => ({
  Type: "bind",
  Source: source,
  Target: target,
  ReadOnly: isReadOnly,
  BindOptions: { Propagation: "rprivate" },
});
const readOnly = (source: string, target: string): MountSettings => bind(source, target, true);
const writable = (source: string, target: string): MountSettings => bind(source, target, false);

/**
 * SECURITY: older engines make only the top of a read-only mount read-only. Mounts below it on the host would stay
 * writable, and are left out there.
 */
function closed(facts: EngineFacts, source: string, target: string): MountSettings {
  const mount = readOnly(source, target);
  if (!isOlderApi(facts.apiVersion, "1.44")) return mount;
  return {
    ...mount,
    BindOptions: { Propagation: "rprivate", NonRecursive: true } as MountSettings["BindOptions"] & object,
  };
}

const toolMounts = ({ node, boxd, agents = {}, skills }: RuntimeBox["tools"]): MountSettings[] => [
  readOnly(node, boxPaths.node),
  readOnly(boxd, `${boxPaths.tools}/boxd`),
  ...Object.entries(agents).map(([agent, directory]) => readOnly(directory, `${boxPaths.agents}/${agent}`)),
  ...(skills === undefined ? [] : [readOnly(skills, boxPaths.skills)]),
];
