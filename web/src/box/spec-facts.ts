/** Everything a box was made with, as a person reads it. Pure. */
import { formatBytes } from "../../../src/base/bytes.ts";
import { formatDuration } from "../../../src/base/duration.ts";
import type { Box, Isolation } from "../../../src/contract/box.ts";
import type { BoxDetails } from "../../../src/contract/api/schemas.ts";
import { guardWords } from "../../../src/contract/guarded-paths.ts";
import { describeException } from "../../../src/contract/exception-words.ts";
import type { SecretBinding } from "../../../src/contract/secret/binding.ts";

export interface FactSection {
  readonly title: string;
  readonly rows: readonly (readonly [label: string, text: string])[];
}

const tiers: Readonly<Record<Isolation["tier"], string>> = {
  none: "not isolated",
  namespaces: "namespaces",
  container: "container",
  rootless: "rootless container",
  gvisor: "gVisor",
  vm: "virtual machine",
};

export const tierText = (tier: Isolation["tier"]): string => tiers[tier];

/** Sections without rows are left out. */
export function specFacts({
  box,
  paths,
  pid,
  health,
}: Pick<BoxDetails, "box" | "paths" | "pid" | "health">): FactSection[] {
  const sections: FactSection[] = [
    { title: "Box", rows: boxRows(box, paths, pid) },
    { title: "Agent", rows: agentRows(box) },
    { title: "Limits", rows: limitRows(box, health) },
    { title: "Mounts", rows: mountRows(box) },
    {
      title: "Secrets",
      rows: box.spec.secrets.map((binding) => [binding.name, secretText(binding)] as const),
    },
    { title: "Services", rows: box.spec.services.map(({ name, argv }) => [name, argv.join(" ")] as const) },
    {
      title: "Exceptions from the baseline",
      rows: (box.spec.exceptions ?? []).map(
        (exception) => [exception.name, `may ${describeException(exception)}: ${exception.reason}`] as const,
      ),
    },
  ];
  return sections.filter(({ rows }) => rows.length > 0);
}

const maybe = (label: string, value: string | number | undefined): (readonly [string, string])[] =>
  value === undefined ? [] : [[label, String(value)]];

function boxRows(box: Box, paths: BoxDetails["paths"], pid: number | undefined) {
  const { spec, projectDir, manifestDigest, baseCommit, owner, restarts } = box;
  const { mode, source, url } = spec.workspace;
  return [
    ...maybe("Project", projectDir),
    ["Workspace", `${mode}${(url ?? source) === undefined ? "" : ` of ${url ?? source}`}`] as const,
    ["Files on the host", paths.workspace] as const,
    ...guardWords(box).flatMap((words) => maybe("In your directory", words)),
    [
      "Runtime",
      `${spec.runtime}, as host user ${owner.uid}${pid === undefined ? "" : `, process ${pid}`}`,
    ] as const,
    ...maybe("Image", spec.image),
    ...maybe("Packages", spec.packages?.join(", ")),
    ...maybe("Package caches", spec.cache === undefined ? undefined : "a copy of the project's"),
    ...maybe("Started from commit", baseCommit),
    ...maybe("Digest of the manifest", manifestDigest),
    ...(restarts > 0 ? maybe("Restarts", restarts) : []),
  ];
}

function agentRows({ spec, run }: Box) {
  const { agent, model, mcp, checks } = spec;
  return [
    ["Agent", [agent.name, agent.version, ...agent.args].filter(Boolean).join(" ")] as const,
    ["Autonomy", agent.autonomy] as const,
    ...maybe("Model", model && `${model.name ?? "the agent's own choice"}, from ${model.provider}`),
    ...maybe("Conversation", run?.conversation),
    ...mcp.map(
      (server) =>
        [
          `MCP server ${server.name}`,
          server.transport === "stdio" ? [server.command, ...server.args].join(" ") : server.url,
        ] as const,
    ),
    ...checks.map(({ name, argv }) => [`Check ${name}`, argv.join(" ")] as const),
  ];
}

function limitRows({ spec }: Box, health: BoxDetails["health"]) {
  const { memoryBytes, cpus, pids, diskBytes } = spec.resources;
  const { ttlMs, idleMs, restart } = spec.lifecycle;
  return [
    ["Memory", memoryBytes === undefined ? "none" : formatBytes(memoryBytes)] as const,
    ["Processors", cpus === undefined ? "none" : String(cpus)] as const,
    ["Processes", pids === undefined ? "none" : String(pids)] as const,
    ["Disk", diskBytes === undefined ? "none" : formatBytes(diskBytes)] as const,
    ...(health?.memory ?? []).map(
      ({ path, usedBytes, sizeBytes }) =>
        [`${path}, in memory`, `${formatBytes(usedBytes)} of ${formatBytes(sizeBytes)}`] as const,
    ),
    ["Longest run", formatDuration(ttlMs)] as const,
    ...maybe("Stops when idle for", idleMs === undefined ? undefined : formatDuration(idleMs)),
    ["Started again", { no: "never", "on-failure": "when it fails", always: "always" }[restart]] as const,
  ];
}

const mountRows = ({ spec }: Box) =>
  spec.mounts.map(
    ({ source, target, readOnly }) =>
      [target, `${source} of the host, ${readOnly ? "read-only" : "writable"}`] as const,
  );

/** SECURITY: what the box holds itself is said, because nothing on the host keeps it from being sent anywhere. */
function secretText({ name, secret, use }: SecretBinding): string {
  const called = name === secret ? "" : `${secret} of the vault, `;
  if (use.kind === "env") return `${called}held by the box in ${use.variable}`;
  if (use.kind === "file") return `${called}held by the box in ${use.path}`;
  const hosts =
    use.kind === "ssh"
      ? use.destinations.map(({ host }) => host)
      : use.destinations.map(({ host }) => (host.isWildcard ? `*.${host.name}` : host.name));
  return `${called}stays on the host, used for ${[...new Set(hosts)].join(", ")}`;
}
