import type { PortableContainer } from "./container.ts";

/** The one line for a terminal. */
export function renderDockerRun(box: PortableContainer): string {
  const options = dockerRunOptions(box).map(([flag, value]) =>
    value === undefined ? flag : `${flag} ${quote(value)}`,
  );
  return ["docker run -it --rm", ...options, quote(box.image), ...box.command.map(quote)].join(" ");
}

/** Flags with their values. A mount of `.` is the directory in which the line is pasted. */
export function dockerRunOptions(box: PortableContainer): readonly (readonly [string, string?])[] {
  return [
    ["--hostname", box.hostname],
    ["--user", box.user],
    ["--workdir", box.workingDir],
    ...(box.isRootReadOnly ? [["--read-only"] as const] : []),
    ...box.capDrop.map((name) => ["--cap-drop", name] as const),
    ...box.capAdd.map((name) => ["--cap-add", name] as const),
    ...(box.canGainPrivileges ? [] : [["--security-opt", "no-new-privileges:true"] as const]),
    ["--network", box.network],
    ["--ipc", box.ipc],
    ["--cgroupns", box.cgroup],
    ...Object.entries(box.tmpfs).map(([path, options]) => ["--tmpfs", `${path}:${options}`] as const),
    ["--shm-size", String(box.shmBytes)],
    ...box.mounts.map((mount) => ["--mount", mountText(mount)] as const),
    ...Object.entries(box.sysctls).map(([name, value]) => ["--sysctl", `${name}=${value}`] as const),
    ...box.ulimits.map(({ name, soft, hard }) => ["--ulimit", `${name}=${soft}:${hard}`] as const),
    ...box.devices.map((device) => ["--device", device] as const),
    ...(box.gpus === 0 ? [] : [["--gpus", String(box.gpus)] as const]),
    ...(box.cpus === undefined ? [] : [["--cpus", String(box.cpus)] as const]),
    ...(box.memoryBytes === undefined
      ? []
      : [
          ["--memory", String(box.memoryBytes)] as const,
          ["--memory-swap", String(box.memoryBytes)] as const,
        ]),
    ...(box.pids === undefined ? [] : [["--pids-limit", String(box.pids)] as const]),
    ...(box.runtime === undefined ? [] : [["--runtime", box.runtime] as const]),
    ...Object.entries(box.env).map(([name, value]) => ["--env", `${name}=${value}`] as const),
    ...box.askedEnv.map((name) => ["--env", name] as const),
  ];
}

function mountText({ source, target, readOnly }: PortableContainer["mounts"][number]): string {
  const fields = ["type=bind", `source=${source}`, `target=${target}`, ...(readOnly ? ["readonly"] : [])];
  return fields.map(field).join(",");
}

/** SECURITY: docker reads the fields as CSV, in which a comma of a path would begin another option. */
const field = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const plain = /^[A-Za-z0-9_./:=,@+-]+$/;

/** SECURITY: the line is pasted into a shell; nothing in it is a command of its own but the name of the directory. */
function quote(text: string): string {
  if (text === "type=bind,source=.,target=/workspace") return '"type=bind,source=$PWD,target=/workspace"';
  return plain.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
