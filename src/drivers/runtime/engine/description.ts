/** A container body in words that belong to no engine. It describes exactly the request: nothing is added here. */
import { omitUndefined } from "../../../base/omit-undefined.ts";
import type { ContainerDescription } from "../../../contract/container.ts";
import type { ContainerBody } from "./container-config.ts";

export function describeBody(body: ContainerBody): ContainerDescription {
  const host = body.HostConfig;
  const devices = (host.Devices ?? []) as readonly { PathOnHost: string }[];
  return {
    image: body.Image ?? "",
    hostname: body.Hostname ?? "",
    user: body.User ?? "",
    workingDir: body.WorkingDir ?? "",
    env: Object.fromEntries((body.Env ?? []).map(splitVariable)),
    command: [body.Entrypoint ?? [], body.Cmd ?? []].flat(),
    isRootReadOnly: host.ReadonlyRootfs === true,
    capDrop: toTexts(host.CapDrop),
    capAdd: toTexts(host.CapAdd),
    canGainPrivileges: !(host.SecurityOpt ?? []).includes("no-new-privileges:true"),
    network: host.NetworkMode ?? "",
    ipc: host.IpcMode ?? "",
    cgroup: host.CgroupnsMode ?? "",
    tmpfs: { ...host.Tmpfs },
    shmBytes: host.ShmSize ?? 0,
    mounts: (host.Mounts ?? []).map(({ Source, Target, ReadOnly = false }) => ({
      source: Source,
      target: Target,
      readOnly: ReadOnly,
    })),
    sysctls: { ...host.Sysctls },
    ulimits: (host.Ulimits ?? []).map(({ Name = "", Soft = 0, Hard = 0 }) => ({
      name: Name,
      soft: Soft,
      hard: Hard,
    })),
    devices: devices.map(({ PathOnHost }) => PathOnHost),
    gpus: (host.DeviceRequests ?? []).reduce((sum, { Count = 0 }) => sum + Count, 0),
    ...(host.NanoCpus === undefined ? {} : { cpus: host.NanoCpus / 1e9 }),
    ...omitUndefined({ memoryBytes: host.Memory }),
    ...(host.PidsLimit === undefined || host.PidsLimit === null ? {} : { pids: host.PidsLimit }),
    ...omitUndefined({ runtime: host.Runtime }),
  };
}

const toTexts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

function splitVariable(text: string): [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}
