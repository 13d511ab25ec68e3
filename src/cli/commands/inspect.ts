import { formatBytes } from "../../base/bytes.ts";
import { formatDuration } from "../../base/duration.ts";
import { printable } from "../../base/printable.ts";
import type { BoxDetails } from "../../contract/api/schemas.ts";
import { memoryDirs } from "../../contract/box-paths.ts";
import { describeException } from "../../contract/exception-words.ts";
import { guardWords } from "../../contract/guarded-paths.ts";
import { hostsOf, waysOf } from "../../contract/secret/use-words.ts";
import type { RunCommand } from "../command.ts";
import type { Style } from "../render/style.ts";
import { age, plural, renderTable } from "../render/table.ts";
import { paintPhase } from "./ls.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const details = await (await connect()).getBox(args.positionals[0]!);
  if (screen.isJson) screen.printJson(details);
  else screen.print(renderDetails(details, Date.now(), screen.style));
  return 0;
};

export function renderDetails(details: BoxDetails, nowMs: number, style: Style): string {
  const sections = [
    ["Box", factsOf(details, nowMs, style)],
    ["Agent", agentOf(details, style)],
    ["Limits", limitsOf(details)],
    ["Network", networkOf(details, style)],
    ["Secrets", secretsOf(details, style)],
    ["Exceptions", exceptionsOf(details, style)],
    ["Inside", insideOf(details)],
    ["Isolation", isolationOf(details, style)],
  ] as const;
  return sections
    .filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => `${style.bold(title)}\n${renderTable(rows, "  ")}`)
    .join("\n\n");
}

function factsOf({ box, pid, paths, isConnected }: BoxDetails, nowMs: number, style: Style): string[][] {
  const { phase } = box.state;
  const why =
    "reason" in box.state
      ? `, ${box.state.reason}`
      : "message" in box.state
        ? `: ${printable(box.state.message)}`
        : "";
  const link = phase === "running" && !isConnected ? " (supervisor not connected)" : "";
  return [
    ["name", style.bold(box.name)],
    ["state", `${paintPhase(phase, phase, style)}${why} for ${age(box.state.sinceMs, nowMs)}${link}`],
    [
      "agent",
      printable(
        [box.spec.agent.name, box.spec.agent.version, ...box.spec.agent.args].filter(Boolean).join(" "),
      ),
    ],
    ["project", printable(box.projectDir ?? "none")],
    ["workspace", `${box.spec.workspace.mode}, at ${printable(paths.workspace)}`],
    ...guardWords(box).map((words) => ["", words]),
    [
      "runtime",
      `${box.spec.runtime}, as host user ${box.owner.uid}${pid === undefined ? "" : `, process ${pid}`}`,
    ],
    ...(box.spec.image === undefined ? [] : [["image", printable(box.spec.image)]]),
    ...(box.expiresAtMs === undefined
      ? []
      : [["ends in", formatDuration(Math.max(0, box.expiresAtMs - nowMs))]]),
    ...(box.restarts > 0 ? [["restarts", String(box.restarts)]] : []),
    ...box.spec.mounts.map((mount) => [
      "mount",
      `${printable(mount.source)} at ${printable(mount.target)}, ${mount.readOnly ? "read-only" : "writable"}`,
    ]),
  ];
}

/** The agent's state, model and tools; empty for a box that only runs commands. */
function agentOf({ box }: BoxDetails, style: Style): string[][] {
  const { run, spec } = box;
  if (!run) return [];
  const { model, agent, budget, mcp } = spec;
  return [
    [
      "state",
      run.verdict === undefined
        ? run.state
        : `${style.bold(run.verdict.replaceAll("_", " "))}: ${printable(run.why ?? "")}`,
    ],
    ...(run.task === undefined ? [] : [["task", printable(run.task).slice(0, 100)]]),
    ["conversation", `${printable(run.conversation ?? "not known yet")}, ${plural(run.turns, "turn")}`],
    ["autonomy", agent.autonomy],
    ...(model === undefined
      ? []
      : [["model", printable(`${model.name ?? "the agent's own choice"}, from ${model.provider}`)]]),
    ...budget.map(({ scope, layer, tokens, microUsd }) => [
      "budget",
      [
        ...(tokens === undefined ? [] : [`${tokens.toLocaleString("en-US")} tokens`]),
        ...(microUsd === undefined ? [] : [`$${(microUsd / 1_000_000).toFixed(2)}`]),
      ].join(" and ") + ` for each ${scope}, set by the ${layer}`,
    ]),
    ...mcp.map((server) => [
      "mcp server",
      printable(
        `${server.name}: ${server.transport === "stdio" ? [server.command, ...server.args].join(" ") : server.url}`,
      ),
    ]),
    ...(agent.skills === undefined ? [] : [["skills", printable(agent.skills)]]),
  ];
}

function limitsOf({ box, health }: BoxDetails): string[][] {
  const { memoryBytes, cpus, pids, diskBytes } = box.spec.resources;
  const { ttlMs, idleMs } = box.spec.lifecycle;
  return [
    ["memory", memoryBytes === undefined ? "none" : formatBytes(memoryBytes)],
    ["cpus", cpus === undefined ? "none" : String(cpus)],
    ["processes", pids === undefined ? "none" : String(pids)],
    ["disk", diskBytes === undefined ? "none" : formatBytes(diskBytes)],
    // In memory; the others are small and seldom asked about.
    ...(health?.memory ?? [])
      .filter(({ path, usedBytes, sizeBytes }) => memoryDirs[path] !== undefined || usedBytes * 2 > sizeBytes)
      .map(({ path, usedBytes, sizeBytes }) => [
        path,
        `${formatBytes(usedBytes)} of ${formatBytes(sizeBytes)}`,
      ]),
    [
      "life",
      `${formatDuration(ttlMs)}${idleMs === undefined ? "" : `, or idle for ${formatDuration(idleMs)}`}`,
    ],
  ];
}

function networkOf({ box }: BoxDetails, style: Style): string[][] {
  const policy = box.network;
  if (policy === undefined) return [["reaches", "nothing"]];
  const counts = (["allow", "ask", "deny"] as const).flatMap((mode) => {
    const count = policy.rules.filter((rule) => rule.mode === mode).length;
    return count === 0 ? [] : [`${count} ${mode}`];
  });
  return [
    ["rules", counts.length === 0 ? "none" : `${counts.join(", ")}; see: agentbox policy show ${box.name}`],
    ["otherwise", policy.default === "ask" ? style.yellow("asks a person") : "denied"],
    ...policy.bounds.map((bound) => [
      "bound",
      `${bound.layer} policy, ${plural(bound.rules.length, "rule")}`,
    ]),
    ...(policy.isLearning
      ? [["learning", `what is wanted is recorded; see: agentbox policy learn ${box.name}`]]
      : []),
    ...policy.exceptions.map(({ name, address, port, reason }) => [
      style.yellow("exception"),
      printable(`${name} is ${address}, port ${port}: ${reason}`),
    ]),
  ];
}

/** SECURITY: what the box holds itself stands out, because nothing on the host keeps it from being sent anywhere. */
const secretsOf = ({ box }: BoxDetails, style: Style): string[][] =>
  box.spec.secrets.map(({ name, secret, use }) => [
    printable(name === secret ? name : `${name} (${secret})`),
    use.kind === "env" || use.kind === "file"
      ? style.yellow("held by the box")
      : printable(waysOf(use).join(", ")),
    printable(use.kind === "env" ? use.variable : use.kind === "file" ? use.path : hostsOf(use).join(", ")),
  ]);

/** The box's exceptions from the baseline. */
const exceptionsOf = ({ box }: BoxDetails, style: Style): string[][] =>
  (box.spec.exceptions ?? []).map((exception) => [
    style.yellow(printable(exception.name)),
    printable(`may ${describeException(exception)}`),
    printable(exception.reason),
  ]);

function insideOf({ health }: BoxDetails): string[][] {
  if (health === undefined) return [];
  return [
    [
      "up",
      `${formatDuration(health.uptimeMs)}, idle for ${formatDuration(health.idleMs)}, ${plural(health.processes, "process", "processes")}`,
    ],
    ...health.sessions.map((session) => [
      `session ${printable(session.id)}`,
      `${session.state}, ${plural(session.viewers, "viewer")}: ${printable(session.argv.join(" ")).slice(0, 60)}`,
    ]),
    ...health.services.map((service) => [
      `service ${printable(service.name)}`,
      `${service.state}${service.message ? `: ${printable(service.message)}` : ""}`,
    ]),
  ];
}

const isolationOf = ({ box }: BoxDetails, style: Style): string[][] => [
  ["tier", box.isolation.tier],
  ...box.isolation.guarantees.map((guarantee) => [
    guarantee.name,
    guarantee.isEnforced ? `${style.green("yes")}  ${guarantee.by}` : `${style.red("no")}   ${guarantee.by}`,
  ]),
];
