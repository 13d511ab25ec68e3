import { omitUndefined } from "../../base/omit-undefined.ts";
import type { PortableContainer } from "../../contract/container.ts";

/** The notes at the top of the file; each is true of every exported box. */
const header = `# A box of AgentBox as a container that runs without it.
# The same: image, user without rights, read-only system, no capabilities, limits, directories in memory.
# Missing, because AgentBox's daemon does it: the gate (so there is no network at all), secrets and model keys,
# agents and services, review and merge: what is written to /workspace is in your directory at once.
# Calls to the kernel are filtered by the engine's own list instead of AgentBox's.
# The image was made by "agentbox build"; on another host, build it there from the same manifest, or load it.
# The home is in memory and gone at the end. Change "user" where your files do not belong to user 1000.
`;

/** The file of a compose project. Every value is a JSON text, which is YAML as well. */
export function renderCompose(box: PortableContainer): string {
  return `${header}${yaml({ services: { [box.box]: service(box) } }, 0)}`;
}

function service(box: PortableContainer): Record<string, unknown> {
  return {
    image: box.image,
    hostname: box.hostname,
    user: box.user,
    working_dir: box.workingDir,
    command: box.command,
    stdin_open: true,
    tty: true,
    environment: { ...box.env, ...Object.fromEntries(box.askedEnv.map((name) => [name, null])) },
    read_only: box.isRootReadOnly,
    cap_drop: box.capDrop,
    cap_add: box.capAdd,
    security_opt: box.canGainPrivileges ? [] : ["no-new-privileges:true"],
    network_mode: box.network,
    ipc: box.ipc,
    cgroup: box.cgroup,
    tmpfs: Object.entries(box.tmpfs).map(([path, options]) => `${path}:${options}`),
    shm_size: box.shmBytes,
    volumes: box.mounts.map(({ source, target, readOnly }) => ({
      type: "bind",
      source,
      target,
      read_only: readOnly,
    })),
    sysctls: box.sysctls,
    ulimits: Object.fromEntries(box.ulimits.map(({ name, soft, hard }) => [name, { soft, hard }])),
    devices: box.devices,
    ...(box.gpus === 0 ? {} : { deploy: gpus(box.gpus) }),
    ...omitUndefined({ cpus: box.cpus }),
    ...(box.memoryBytes === undefined ? {} : { mem_limit: box.memoryBytes, memswap_limit: box.memoryBytes }),
    ...omitUndefined({ pids_limit: box.pids, runtime: box.runtime }),
    restart: "no",
  };
}

const gpus = (count: number): object => ({
  resources: { reservations: { devices: [{ count, capabilities: ["gpu"] }] } },
});

function yaml(table: Readonly<Record<string, unknown>>, depth: number): string {
  const lines = Object.entries(table).map(([key, value]): string => {
    const name = `${"  ".repeat(depth)}${scalar(key)}:`;
    if (isEmpty(value)) return "";
    if (value === null) return `${name}\n`;
    if (typeof value !== "object") return `${name} ${scalar(value)}\n`;
    if (Array.isArray(value)) return `${name}\n${value.map((item) => listItem(item, depth + 1)).join("")}`;
    return `${name}\n${yaml(value as Record<string, unknown>, depth + 1)}`;
  });
  return lines.join("");
}

const isEmpty = (value: unknown): boolean =>
  value !== null && typeof value === "object" && Object.keys(value).length === 0;

/** Small tables of a list are written in one line, as JSON. */
const listItem = (item: unknown, depth: number): string => `${"  ".repeat(depth)}- ${scalar(item)}\n`;

const plainKey = /^[a-z][a-z_]*$/;
const words = new Set(["yes", "no", "on", "off", "true", "false", "null", "y", "n"]);

/** SECURITY: a dollar would be a variable of the person who starts it; doubled, it is a dollar. */
function scalar(value: unknown): string {
  if (typeof value === "string" && plainKey.test(value) && !words.has(value)) return value;
  return JSON.stringify(value).replaceAll("$", "$$$$");
}
