import { z } from "zod";
import { workStates } from "../review/work-state.ts";
import { Box, MainSession } from "../box.ts";
import { ErrorAnswer } from "./schemas/error-answer.ts";
import { PlannedCommand } from "./schemas/planned-command.ts";
import { BoxEvent, EventType } from "../events.ts";
import { AgentState, Verdict } from "../agent-events.ts";
import { BudgetScope, BudgetObstacle, BudgetStatus } from "../model/budget.ts";
import { UsageTotals } from "../model/usage.ts";
import { HostSummary } from "../network/egress.ts";
import { NetworkPolicy } from "../network/policy.ts";
import { InstalledTool } from "../tool.ts";
import { needKinds } from "../needs.ts";
import { ExecOp, Health, ServiceStatus, SessionStatus, StreamOutput } from "../link/messages.ts";

export const Info = z.object({
  version: z.string(),
  pid: z.int(),
  home: z.string(),
  startedAtMs: z.int(),
  apiVersion: z.literal(1),
  boxes: z.int(),
});
export type Info = z.infer<typeof Info>;

export const Readiness = z.object({
  isReady: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
});
export type Readiness = z.infer<typeof Readiness>;

/** The rest of a box after the command it was made for has ended. */
export const AfterMain = z.enum(["keep", "remove", "remove_if_unchanged"]);
export type AfterMain = z.infer<typeof AfterMain>;

/** The agent and its task; the daemon makes the command from the catalogue. */
export const StartRun = z.strictObject({
  mode: z.enum(["interactive", "headless"]),
  task: z.string().max(65_536).optional().describe("What to do; needed in headless mode."),
  timeoutMs: z.int().positive().optional().describe("The agent must be done by then."),
  cols: z.int().min(1).max(1000).default(120),
  rows: z.int().min(1).max(1000).default(40),
});
export type StartRun = z.infer<typeof StartRun>;

/** The next turn of a box's conversation, after its agent has ended or the box was stopped. */
export const ResumeRun = StartRun.partial({ mode: true });
export type ResumeRun = z.infer<typeof ResumeRun>;

/** An agent as the CLI and the web form need it. */
export const AgentInfo = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  kind: z.enum(["command", "agent"]),
  origin: z.enum(["built-in", "user"]),
  isHeadless: z.boolean(),
  api: z.string().optional(),
  defaultModel: z.string().optional(),
  /** The version the catalogue was tested with. */
  recommended: z.string().optional(),
  /** The version a box gets now. */
  pinned: z.string().optional(),
  installed: z.array(InstalledTool),
  options: z.record(z.string(), z.unknown()).describe("JSON Schema of the agent's options."),
  hosts: z.array(z.string()),
  traps: z.array(z.string()),
});
export type AgentInfo = z.infer<typeof AgentInfo>;

export const InstallAgent = z.strictObject({
  version: z.string().max(64).optional(),
  from: z
    .string()
    .max(4096)
    .optional()
    .describe("Path of a program or a directory with it, in the place of what a registry has."),
  projectDir: z.string().optional().describe("Write the pin into this project's agentbox.lock, too."),
  digest: z
    .string()
    .max(80)
    .optional()
    .describe("Install only content of this hash, as a lock file names it."),
  keepPin: z.boolean().optional().describe("Leave the host's pin where it is, if there is one."),
});
export type InstallAgent = z.infer<typeof InstallAgent>;

/** One line of the answer while an agent is being installed. */
export const InstallStep = z.discriminatedUnion("type", [
  z.object({ type: z.literal("progress"), message: z.string() }),
  z.object({ type: z.literal("done"), tool: InstalledTool }),
  z.object({ type: z.literal("error"), error: ErrorAnswer.shape.error }),
]);
export type InstallStep = z.infer<typeof InstallStep>;

export const AgentCheck = z.object({
  agent: z.string(),
  status: z.enum(["ready", "absent", "broken"]),
  version: z.string().optional(),
  detail: z.string(),
  fix: z.string().optional(),
});
export type AgentCheck = z.infer<typeof AgentCheck>;

export const UsageFilter = z.object({
  box: z.string().max(64).optional(),
  agent: z.string().max(64).optional(),
  projectDir: z.string().max(4096).optional(),
  from: z.coerce.number().int().min(0).optional(),
  to: z.coerce.number().int().min(0).optional(),
  by: z.enum(["box", "agent", "project", "model", "day"]).default("box"),
});
export const ModelRequestFilter = z.object({
  box: z.string().max(64).optional(),
  after: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
});

export const UsageAnswer = z.object({
  totals: UsageTotals,
  groups: z.array(z.object({ key: z.string(), totals: UsageTotals })),
  pricesOf: z.string().describe("Date of the price table."),
});
export type UsageAnswer = z.infer<typeof UsageAnswer>;

export const BudgetAnswer = z.object({
  box: z.string(),
  limits: z.array(BudgetStatus),
  isExhausted: z.boolean(),
  obstacle: BudgetObstacle.optional().describe("Why its next request is not let through."),
});
export type BudgetAnswer = z.infer<typeof BudgetAnswer>;

const CheckpointText = z.string().max(64).describe("`base`, a number or a name.");
export const ReviewFilter = z.object({
  from: CheckpointText.optional(),
  to: CheckpointText.optional().describe("Without it: the newest state."),
  against: z.string().max(64).optional().describe("Another box, in the place of `from`."),
});
export const PatchFilter = ReviewFilter.extend({
  path: z.string().max(4096).optional(),
  oldPath: z
    .string()
    .max(4096)
    .optional()
    .describe("Where the path was before; with it a renamed file is no new one."),
  context: z.coerce.number().int().min(0).max(1000).default(3),
});

/** Adds to the limits of a scope; `run` by default. */
export const RaiseBudget = z.strictObject({
  scope: BudgetScope.optional(),
  tokens: z.int().positive().optional(),
  microUsd: z.int().positive().optional(),
});
export type RaiseBudget = z.infer<typeof RaiseBudget>;

export const CreateBox = z.strictObject({
  name: z
    .string()
    .optional()
    .describe(
      "Lower-case words joined by hyphens, the broadest word first; chosen from the project and the agent when absent.",
    ),
  projectDir: z.string().optional().describe("Absolute path of the directory the work is about."),
  manifest: z
    .strictObject({ file: z.string(), text: z.string().max(1 << 20) })
    .optional()
    .describe("The manifest as found; the copy in force is taken from here."),
  flags: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("A partial manifest that a person typed; it wins over the file and needs no trust."),
  variables: z
    .record(z.string(), z.string())
    .optional()
    .describe("Values of the host variables that the manifest asks for, where the command was typed."),
  trust: z.string().optional().describe("Digest of the manifest's requests that a person has agreed to."),
  main: MainSession.partial({ argv: true, env: true })
    .strict()
    .optional()
    .describe("Start the agent as the box's main session; its end ends the box."),
  run: StartRun.optional().describe("Start the box's agent on a task, or for a person at a terminal."),
  exec: z
    .boolean()
    .default(false)
    .describe(
      "The caller will run the planned command in the box; refused for an agent, which needs a task.",
    ),
  attended: z
    .boolean()
    .default(false)
    .describe(
      "A person watches: hosts that no rule names are asked about, unless the manifest or the user config decides.",
    ),
  start: z.boolean().default(true),
  ephemeral: z.boolean().default(false).describe("Remove it when it does not start and nothing ran in it."),
});
export type CreateBox = z.infer<typeof CreateBox>;
export type CreateBoxInput = z.input<typeof CreateBox>;

export const CreatedBox = z.object({
  box: Box,
  command: PlannedCommand.describe("What the box was planned to run."),
  leftBehind: z.int().describe("Uncommitted paths of the source that were not carried in."),
  warnings: z.array(z.string()),
});
export type CreatedBox = z.infer<typeof CreatedBox>;

const Need = z.object({
  kind: z.enum(needKinds),
  sentence: z.string(),
  sinceMs: z.int(),
  approval: z.int().optional().describe("The number of the question."),
});

/** One line of `agentbox ls`: small, because there may be thousands. */
export const BoxSummary = z.object({
  name: z.string(),
  phase: z.string(),
  reason: z.string().optional(),
  exitCode: z.int().optional(),
  agent: z.string(),
  runtime: z.string(),
  projectDir: z.string().optional(),
  createdAtMs: z.int(),
  sinceMs: z.int(),
  expiresAtMs: z.int().optional(),
  restarts: z.int(),
  agentState: AgentState.optional(),
  verdict: Verdict.optional(),
  tokens: z.int().optional().describe("Input and output together, of the box's whole life."),
  costMicroUsd: z.int().optional().describe("Millionths of a US dollar; absent when it is not known."),
  repo: z.string().optional().describe("Name of the repository or directory it works on."),
  branch: z.string().optional(),
  changedFiles: z.int().optional().describe("Since what it began with, or what was merged last."),
  addedLines: z.int().optional().describe("Of these files, as the newest checkpoint counts them."),
  deletedLines: z.int().optional(),
  task: z.string().optional().describe("The first line of what the agent was asked last."),
  lastAction: z.string().optional().describe("One line about the newest thing the agent said or did."),
  work: z
    .enum(workStates)
    .optional()
    .describe("What has become of its work, as far as is known; `changedFiles` says how much is unmerged."),
  cpu: z.array(z.number()).optional().describe("Percent of one processor, the newest last."),
  memory: z.array(z.number()).optional().describe("Bytes, the newest last."),
  person: z.string().optional().describe("Whose it is, where several people use this host."),
  role: z.enum(["look", "work", "own"]).optional().describe("What you may do with it."),
  needs: z.array(Need).describe("What it needs a person for: open questions, and what its state asks for."),
});
export type BoxSummary = z.infer<typeof BoxSummary>;

/** Everything `agentbox inspect` shows. */
export const BoxDetails = z.object({
  box: Box,
  health: Health.optional(),
  pid: z.int().optional().describe("Host process id of the box's first process."),
  isConnected: z.boolean(),
  paths: z.object({ home: z.string(), workspace: z.string() }),
});
export type BoxDetails = z.infer<typeof BoxDetails>;

export const BoxStats = z.object({
  name: z.string(),
  cpuMs: z.number(),
  memoryBytes: z.int(),
  memoryLimitBytes: z.int().optional(),
  processes: z.int(),
  diskBytes: z.int(),
  idleMs: z.number().optional(),
  atMs: z.int(),
});
export type BoxStats = z.infer<typeof BoxStats>;

export const SessionList = z.object({ sessions: z.array(SessionStatus), services: z.array(ServiceStatus) });
export type SessionList = z.infer<typeof SessionList>;

export const StartSession = z.strictObject({
  session: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,31}$/)
    .describe("Name of the session; `main` belongs to the agent."),
  spec: MainSession.partial({ argv: true, env: true }).strict(),
});
export type StartSession = z.infer<typeof StartSession>;

export { DoctorReport } from "./schemas/daemon.ts";

export const TrustEntry = z.object({
  projectDir: z.string(),
  digest: z.string(),
  requests: z.array(z.string()),
  grantedAtMs: z.int(),
});
export type TrustEntry = z.infer<typeof TrustEntry>;

export const TrustQuestion = z.object({
  projectDir: z.string(),
  digest: z.string(),
  requests: z.array(z.string()),
  isTrusted: z.boolean(),
});
export type TrustQuestion = z.infer<typeof TrustQuestion>;

export const EventPage = z.object({ events: z.array(BoxEvent), lastId: z.int() });
export type EventPage = z.infer<typeof EventPage>;

export const EventFilter = z.object({
  after: z.coerce.number().int().min(0).optional(),
  before: z.coerce.number().int().min(1).optional().describe("Only events with a smaller id."),
  box: z.string().max(64).optional(),
  type: EventType.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  order: z.enum(["oldest", "newest"]).default("oldest"),
  follow: z.stringbool().default(false).describe("Answer with a server-sent event stream that stays open."),
});

export const PolicyAnswer = z.object({
  policy: NetworkPolicy,
  /** The policy as a person reads it: one line a rule, with where it was written. */
  lines: z.array(z.object({ verdict: z.string(), what: z.string(), rule: z.string(), where: z.string() })),
});
export type PolicyAnswer = z.infer<typeof PolicyAnswer>;

export const ExplainRequest = z.strictObject({
  url: z.string().max(4096).describe("https://host/path, or host:port."),
  method: z.string().max(32).default("GET"),
});
export const Explanation = z.object({
  verdict: z.enum(["allow", "ask", "deny"]),
  host: z.string(),
  port: z.int(),
  sentence: z.string(),
  reason: z.string().optional(),
  rule: z.string().optional(),
  layer: z.string().optional(),
  file: z.string().optional(),
  line: z.int().optional(),
  howToChange: z.string(),
});
export type Explanation = z.infer<typeof Explanation>;

export const EgressFilter = z.object({
  after: z.coerce.number().int().min(0).optional(),
  box: z.string().max(64).optional(),
  host: z.string().max(255).optional(),
  verdict: z.enum(["allow", "deny"]).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  order: z.enum(["oldest", "newest"]).default("oldest"),
});

export const NetAnswer = z.object({
  box: z.string(),
  hosts: z.array(HostSummary),
  requests: z.int(),
  denials: z.int(),
  bytesOut: z.int(),
  bytesIn: z.int(),
});
export type NetAnswer = z.infer<typeof NetAnswer>;

// ---- WebSocket streams: the first message says what is wanted, as text; then text is control, binary is data ----

/**
 * A binary message starts with one byte: 1 is stdin or stdout or file contents, 2 is stderr. The byte alone is the
 * end of the input.
 */
export const ExecRequest = ExecOp.omit({ kind: true }).extend({
  env: z.record(z.string(), z.string()).default({}),
  stdin: z.boolean().default(true),
  /** This command is what the box was made for: what happens to the box when it has ended. */
  afterMain: AfterMain.optional(),
});
export type ExecRequest = z.infer<typeof ExecRequest>;
export type ExecRequestInput = z.input<typeof ExecRequest>;

export const AttachRequest = z.strictObject({
  cols: z.int().min(1).max(1000),
  rows: z.int().min(1).max(1000),
  readOnly: z.boolean().default(false),
  /** Whether the viewer's terminal answers what programs ask theirs; if none does, the box does. */
  answers: z.boolean().default(true),
});
export type AttachRequest = z.input<typeof AttachRequest>;

export const FilesRequest = z.strictObject({
  op: z.enum(["read", "write"]),
  path: z.string().min(1).max(4096),
});
export type FilesRequest = z.infer<typeof FilesRequest>;

/** The daemon's own messages on a stream, besides those of boxd. */
export type StreamAnswer =
  | StreamOutput
  | { type: "error"; error: z.infer<typeof ErrorAnswer>["error"] }
  /** After `exit`, when `afterMain` was asked for. */
  | { type: "finished"; isKept: boolean; deniedHosts: readonly string[] };
