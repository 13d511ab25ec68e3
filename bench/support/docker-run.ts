// The `docker run` line that makes the container a box has: every setting is read back from the engine, so the peer
// has the same user, mounts, memory file systems, limits and filter of system calls, and no network either.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { engineRequest } from "../../test/support/engine-request.ts";
import type { EngineSocket } from "./engine.ts";

/** The parts that are read of what an engine says about a container. */
interface Inspected {
  readonly Config: {
    readonly Image: string;
    readonly User: string;
    readonly Hostname: string;
    readonly WorkingDir: string;
    readonly Env: readonly string[];
  };
  readonly HostConfig: {
    readonly SecurityOpt: readonly string[];
    readonly NetworkMode: string;
    readonly IpcMode: string;
    readonly CgroupnsMode: string;
    readonly Runtime: string;
    readonly ShmSize: number;
    readonly OomScoreAdj: number;
    readonly PidsLimit: number | null;
    readonly NanoCpus: number;
    readonly Memory: number;
    readonly Tmpfs: Readonly<Record<string, string>>;
    readonly Sysctls: Readonly<Record<string, string>>;
    readonly CapDrop: readonly string[];
    readonly Ulimits: readonly { readonly Name: string; readonly Soft: number; readonly Hard: number }[];
    readonly LogConfig: { readonly Type: string; readonly Config: Readonly<Record<string, string>> };
    readonly Mounts: readonly {
      readonly Source: string;
      readonly Target: string;
      readonly ReadOnly?: boolean;
    }[];
  };
}

/** Everything between `docker run` and the program, without an image; the image comes beside it. */
export interface SameFlags {
  readonly image: string;
  readonly flags: readonly string[];
}

/** Of the container that runs the box of this name; the filter of system calls is written into the directory. */
export async function flagsOfBox(socket: EngineSocket, box: string, directory: string): Promise<SameFlags> {
  const { status, text } = await engineRequest(socket, "GET", `/v1.41/containers/agentbox-${box}/json`);
  if (status !== 200) throw new Error(`The engine says ${status} about box ${box}: ${text}`);
  const { Config: config, HostConfig: host } = JSON.parse(text) as Inspected;
  const security = host.SecurityOpt.map((option) => {
    if (!option.startsWith("seccomp=")) return option;
    const profile = join(directory, "seccomp.json");
    writeFileSync(profile, option.slice("seccomp=".length));
    return `seccomp=${profile}`;
  });
  const pairs = (record: Readonly<Record<string, string>>, mark: string): readonly string[] =>
    Object.entries(record).map(([key, value]) => `${key}${mark}${value}`);
  const each = (flag: string, values: readonly string[]): readonly string[] =>
    values.flatMap((value) => [flag, value]);
  const mounts = host.Mounts.map(
    ({ Source, Target, ReadOnly }) =>
      `type=bind,src=${Source},dst=${Target},bind-propagation=rprivate${ReadOnly ? ",readonly" : ""}`,
  );
  const flags = [
    "--read-only",
    ...each("--cap-drop", host.CapDrop),
    ...each("--security-opt", security),
    `--network=${host.NetworkMode}`,
    `--ipc=${host.IpcMode}`,
    `--cgroupns=${host.CgroupnsMode}`,
    `--user=${config.User}`,
    `--hostname=${config.Hostname}`,
    `--workdir=${config.WorkingDir}`,
    `--runtime=${host.Runtime}`,
    `--shm-size=${host.ShmSize}`,
    `--oom-score-adj=${host.OomScoreAdj}`,
    ...(host.PidsLimit === null ? [] : ["--pids-limit", `${host.PidsLimit}`]),
    ...(host.NanoCpus === 0 ? [] : ["--cpus", `${host.NanoCpus / 1e9}`]),
    ...(host.Memory === 0 ? [] : ["--memory", `${host.Memory}`, "--memory-swap", `${host.Memory}`]),
    ...each(
      "--ulimit",
      host.Ulimits.map(({ Name, Soft, Hard }) => `${Name}=${Soft}:${Hard}`),
    ),
    `--log-driver=${host.LogConfig.Type}`,
    ...each("--log-opt", pairs(host.LogConfig.Config, "=")),
    ...each("--sysctl", pairs(host.Sysctls, "=")),
    ...each("--tmpfs", pairs(host.Tmpfs, ":")),
    ...each("--mount", mounts),
    ...each("--env", config.Env),
  ];
  return { image: config.Image, flags };
}

/** `docker run` at this engine; more flags come first, then those of the box. */
export const dockerRun = (
  socket: EngineSocket,
  { image, flags }: SameFlags,
  {
    program,
    args = [],
    more = ["--rm"],
  }: { program: string; args?: readonly string[]; more?: readonly string[] },
): readonly string[] => [
  "docker",
  `--host=unix://${socket}`,
  "run",
  ...more,
  ...flags,
  `--entrypoint=${program}`,
  image,
  ...args,
];
