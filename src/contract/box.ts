import { z } from "zod";
import { autonomyLevels } from "./agent.ts";
import { AgentRun } from "./agent-events.ts";
import { McpServer } from "./mcp.ts";
import { CheckSpec } from "./review/check.ts";
import { ModelSpec } from "./model/api.ts";
import { BudgetLimit } from "./model/budget.ts";
import { NetworkPolicy } from "./network/policy.ts";
import { SecretBinding } from "./secret/binding.ts";
import { Toolchain } from "./toolchain.ts";

/** Human and hierarchical: words joined by hyphens, the broadest first (`team-app-backend`). */
export const boxNamePattern = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
export const BoxName = z
  .string()
  .min(2)
  .max(48)
  .regex(boxNamePattern, "lower-case words joined by single hyphens, such as team-app-backend")
  .describe("Name of a box: lower-case words joined by hyphens, the broadest word first.");

export const RestartPolicy = z.enum(["no", "on-failure", "always"]);
export type RestartPolicy = z.infer<typeof RestartPolicy>;

export const MountSpec = z.strictObject({
  source: z.string().describe("Absolute path on the host."),
  target: z.string().describe("Absolute path in the box."),
  readOnly: z.boolean(),
});
export type MountSpec = z.infer<typeof MountSpec>;

export const ReadinessProbe = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("none") }),
  z.strictObject({ kind: z.literal("port"), port: z.int().min(1).max(65_535) }),
  z.strictObject({ kind: z.literal("command"), argv: z.array(z.string()).min(1) }),
  z.strictObject({ kind: z.literal("log"), pattern: z.string() }),
]);
export type ReadinessProbe = z.infer<typeof ReadinessProbe>;

export const ServiceSpec = z.strictObject({
  name: z.string(),
  argv: z.array(z.string()).min(1),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()),
  after: z.array(z.string()).describe("Services that must be ready before this one starts."),
  ready: ReadinessProbe,
  readyTimeoutMs: z.int().positive(),
  restart: RestartPolicy,
  required: z.boolean().optional().describe("Whether the box is up only with it. Absent: yes."),
});
export type ServiceSpec = z.infer<typeof ServiceSpec>;

export const ResourceSpec = z.strictObject({
  cpus: z.number().positive().optional(),
  memoryBytes: z.int().positive().optional(),
  pids: z.int().positive().optional(),
  diskBytes: z.int().positive().optional(),
  /** Sizes of what is in memory, where others than the usual were asked for. */
  tmpBytes: z.int().positive().optional(),
  shmBytes: z.int().positive().optional(),
  /** Which of the above a person or manifest asked for by name; those are refused where they cannot be enforced. */
  required: z.array(z.enum(["cpus", "memory", "pids", "disk"])),
});
export type ResourceSpec = z.infer<typeof ResourceSpec>;

export const WorkspaceSpec = z.strictObject({
  mode: z.enum(["clone", "copy", "mount", "empty"]),
  source: z.string().optional().describe("Absolute path of the host directory the work comes from."),
  url: z
    .string()
    .optional()
    .describe("Address of a repository that the box itself clones, through the gate."),
  carry: z.enum(["none", "dirty"]).describe("Whether uncommitted work comes along into a clone."),
});
export type WorkspaceSpec = z.infer<typeof WorkspaceSpec>;

const LifecycleSpec = z.strictObject({
  ttlMs: z.int().positive().describe("Longest life of one run of the box."),
  idleMs: z.int().positive().optional().describe("Stop after this long without activity."),
  restart: RestartPolicy,
  stopGraceMs: z.int().min(0),
});

/** Weakest first. */
export const isolationTiers = ["none", "namespaces", "container", "rootless", "gvisor", "vm"] as const;

/** Something beyond the baseline of every box: added by name and with a reason, never taken away from it. */
export const SecurityException = z.strictObject({
  name: z.string(),
  reason: z.string(),
  /** Device files of the host. */
  devices: z.array(z.string()),
  /** More memory-backed directories, with their sizes in bytes. */
  tmpfs: z.record(z.string(), z.int().positive()),
  capabilities: z.array(z.string()),
  /** How many graphics processors; 0: none. */
  gpus: z.int().min(0),
});
export type SecurityException = z.infer<typeof SecurityException>;

/** Everything about a box, resolved from its manifest at creation. Only `move` changes anything of it: the runtime. */
/** A script of the project's that a person has agreed to; it sets variables when the box starts. */
export const EnvScript = z.object({
  path: z.string(),
  digest: z.string(),
  text: z.string(),
});
export type EnvScript = z.infer<typeof EnvScript>;

/** Of the person who made the box, so that it works as their machine does. */
export const PersonSettings = z.strictObject({
  env: z.record(z.string(), z.string()).describe("Time zone, language, editor and pager."),
  git: z
    .strictObject({ name: z.string().optional(), email: z.string().optional() })
    .describe("The author of commits, where the repository names none."),
});
export type PersonSettings = z.infer<typeof PersonSettings>;

export const BoxSpec = z.strictObject({
  agent: z.strictObject({
    name: z.string(),
    args: z.array(z.string()),
    /** The pinned version; absent for agents that are part of every box. */
    version: z.string().optional(),
    autonomy: z.enum(autonomyLevels).default("full"),
    /** Checked by the agent's own schema. */
    options: z.record(z.string(), z.unknown()).default({}),
    instructions: z.string().optional(),
    /** Absolute path of a host directory that holds skills; mounted read-only. */
    skills: z.string().optional(),
  }),
  /** Absent: the box has no model. */
  model: ModelSpec.optional(),
  budget: z.array(BudgetLimit).default([]),
  mcp: z.array(McpServer).default([]),
  checks: z.array(CheckSpec).default([]),
  /** Which secrets it may use, and how; never a value. */
  secrets: z.array(SecretBinding).default([]),
  workspace: WorkspaceSpec,
  /** Whether its home begins with a copy of the package caches that its project keeps. Absent: with none. */
  cache: z.literal("project").optional(),
  runtime: z.string(),
  /** The weakest isolation that was asked for; kept, so that a move cannot go below it. */
  tier: z.enum(isolationTiers).optional(),
  /** Reference of the image its root is made of; absent: the host's own system. */
  image: z.string().optional(),
  /** Debian packages that its image has besides. */
  packages: z.array(z.string()).optional(),
  exceptions: z.array(SecurityException).optional(),
  resources: ResourceSpec,
  mounts: z.array(MountSpec),
  /** Toolchains of the host that a person has agreed to show, or that stand below /usr. Absent: none. */
  toolchains: z.array(Toolchain).optional(),
  env: z.record(z.string(), z.string()),
  /** Variables whose values are the person's own: from the host, the command line or the user config. Absent: none. */
  givenEnv: z.array(z.string()).optional(),
  person: PersonSettings.optional(),
  envScript: EnvScript.optional(),
  services: z.array(ServiceSpec),
  lifecycle: LifecycleSpec,
});
export type BoxSpec = z.infer<typeof BoxSpec>;

export const StopReason = z.enum([
  "created",
  "requested",
  "finished",
  "ttl",
  "idle",
  "died",
  "restart_limit",
  "host_restarted",
]);
export type StopReason = z.infer<typeof StopReason>;

/** Phases as a closed union; `core/box/box-phases.ts` says which may follow which. */
export const BoxState = z.discriminatedUnion("phase", [
  z.object({ phase: z.literal("creating"), sinceMs: z.int() }),
  z.object({
    phase: z.literal("stopped"),
    sinceMs: z.int(),
    reason: StopReason,
    exitCode: z.int().optional(),
  }),
  z.object({ phase: z.literal("starting"), sinceMs: z.int() }),
  z.object({ phase: z.literal("running"), sinceMs: z.int() }),
  z.object({ phase: z.literal("paused"), sinceMs: z.int() }),
  z.object({ phase: z.literal("stopping"), sinceMs: z.int(), reason: StopReason }),
  z.object({ phase: z.literal("failed"), sinceMs: z.int(), message: z.string() }),
  z.object({ phase: z.literal("removing"), sinceMs: z.int() }),
]);
export type BoxState = z.infer<typeof BoxState>;
export type BoxPhase = BoxState["phase"];

/** One guarantee and what upholds it, or why nothing does. */
export const Guarantee = z.object({
  name: z.string(),
  isEnforced: z.boolean(),
  by: z.string().describe("What enforces it, or why it is not enforced."),
});
export type Guarantee = z.infer<typeof Guarantee>;

export const Isolation = z.object({
  tier: z.enum(isolationTiers),
  guarantees: z.array(Guarantee),
});
export type Isolation = z.infer<typeof Isolation>;

/** The user a box's files and processes belong to on the host. */
export const BoxOwner = z.object({ uid: z.int(), gid: z.int() });
export type BoxOwner = z.infer<typeof BoxOwner>;

/** The program of the main session, so that a restart can start it again. */
export const MainSession = z.object({
  argv: z.array(z.string()).min(1),
  env: z.record(z.string(), z.string()),
  terminal: z.boolean(),
  cols: z.int().min(1).max(1000),
  rows: z.int().min(1).max(1000),
});
export type MainSession = z.infer<typeof MainSession>;

/** A box as the store keeps it and the API shows it. */
export const Box = z.object({
  name: BoxName,
  /** Tells two boxes apart that had the same name one after the other; people never need it. */
  incarnation: z.string(),
  spec: BoxSpec,
  manifestDigest: z.string().optional(),
  /** The commit its workspace began with; absent where that is not a git repository, or one without commits. */
  baseCommit: z.string().optional(),
  projectDir: z.string().optional(),
  owner: BoxOwner,
  state: BoxState,
  isolation: Isolation,
  /** The network policy in force; a box without one reaches nothing. */
  network: NetworkPolicy.optional(),
  main: MainSession.optional(),
  /** The state of the agent; absent for boxes that only run commands. */
  run: AgentRun.optional(),
  createdAtMs: z.int(),
  startedAtMs: z.int().optional(),
  expiresAtMs: z.int().optional(),
  restarts: z.int(),
});
export type Box = z.infer<typeof Box>;

export { boxPaths, boxUser } from "./box-paths.ts";
