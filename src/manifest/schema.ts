import { z } from "zod";
import { RestartPolicy } from "../contract/box.ts";
import { AgentSection } from "./sections/agent-section.ts";
import { BudgetSection } from "./sections/budget-section.ts";
import { McpSection } from "./sections/mcp-section.ts";
import { ModelSection } from "./sections/model-section.ts";
import { NetworkSection } from "./sections/network-section.ts";
import { RuntimeSection } from "./sections/runtime-section.ts";
import { SecretsSection } from "./sections/secrets-section.ts";
import { SecuritySection } from "./sections/security-section.ts";
import { ToolchainsSection } from "./sections/toolchains-section.ts";
import { Duration, EnvName, PathText, ServiceName, Size, Text, Word } from "./sections/scalars.ts";

const Command = z.union([Text, z.array(Text).max(1_024)]);

const WorkspaceSection = z
  .strictObject({
    mode: z
      .enum(["clone", "copy", "mount", "empty"])
      .optional()
      .describe(
        "Where the work comes from: a private clone of the repository, a copy of the directory, the directory itself, or nothing. Without it: clone for a git repository, copy otherwise.",
      ),
    url: z
      .string()
      .max(2_048)
      .regex(/^https:\/\/[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?\/[\x21-\x3f\x41-\x7e]*$/)
      .optional()
      .describe(
        "https address of a repository that is cloned into the box, by the box, in the place of a directory. Its host must be allowed in [network].",
      ),
    carry: z
      .enum(["none", "dirty"])
      .optional()
      .describe("Whether uncommitted work comes along into a clone."),
    cache: z
      .enum(["box", "project"])
      .optional()
      .describe(
        "What npm, pip, cargo and go find when the box is new: nothing, or a copy of what `agentbox cache save` has kept for the project.",
      ),
  })
  .describe("What the agent works on, at /workspace in the box.");

const ResourcesSection = z
  .strictObject({
    cpus: z.number().min(0.01).max(1_024).optional().describe("Processors, fractions allowed."),
    memory: Size.optional().describe("Most memory of all processes together; at least 16MiB."),
    pids: z.int().min(8).max(4_194_304).optional().describe("Most processes and threads at a time."),
    disk: Size.optional().describe("Most disk for the workspace and the home; at least 8MiB."),
    tmp: Size.optional().describe(
      "Size of /tmp, and of /var/tmp; at least 1MiB. Without it 2GiB, or half of the memory limit. What is in them is memory of the box.",
    ),
    shm: Size.optional().describe(
      "Size of /dev/shm; at least 1MiB. Without it 256MiB. What is in it is memory of the box.",
    ),
  })
  .describe("Limits. A limit that is named here is enforced, or the box is refused.");

export const MountEntry = z
  .strictObject({
    source: PathText.describe(
      "Directory or file of the host: absolute, below your home (~/…), or relative to the directory of the manifest.",
    ),
    target: PathText.describe("Absolute path in the box."),
    access: z.enum(["read", "write"]).optional().describe("Whether the box may write there."),
  })
  .describe("A directory or file of the host that the box can see. Asks for trust.");
export type MountEntry = z.infer<typeof MountEntry>;

const EnvValue = z.union([
  Text,
  z.strictObject({
    from_host: EnvName.describe(
      "Variable of the host's environment whose value is taken when the box is created.",
    ),
  }),
]);

const EnvFiles = z
  .array(
    z.union([
      PathText,
      z.strictObject({
        path: PathText.describe("Relative to the project."),
        clear: z
          .array(EnvName)
          .max(256)
          .optional()
          .describe("Variables whose values go into the box although they look like secrets."),
      }),
    ]),
  )
  .min(1)
  .max(8);

const EnvSection = z
  .record(
    EnvName,
    z
      .union([EnvValue, EnvFiles])
      .describe(
        'A text, or { from_host = "NAME" }, which asks for trust. Under the name files: a list of files of the project, such as [".env"]; they ask for trust, too, and a .envrc runs in the box.',
      ),
  )
  .describe("Environment variables of everything in the box.");

const ReadySection = z
  .strictObject({
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe("Ready when this TCP port of the box accepts a connection."),
    command: Command.optional().describe("Ready when this command ends with exit code 0."),
    log: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe("Ready when a line of its output matches this regular expression."),
  })
  .describe(
    "When the service counts as ready: exactly one of port, command and log. Without it: as soon as it runs.",
  );

export const ServiceEntry = z
  .strictObject({
    command: Command.describe("What to run: a text for sh -c, or an array of program and arguments."),
    cwd: PathText.optional().describe("Directory it runs in; relative to /workspace."),
    env: z
      .record(EnvName, Text.describe("A text, for this service only."))
      .optional()
      .describe("More environment variables, for this service only."),
    after: z.array(Word).max(64).optional().describe("Services that must be ready before this one starts."),
    ready: ReadySection.optional(),
    ready_timeout: Duration.optional().describe("How long it may take to become ready."),
    restart: RestartPolicy.optional().describe("Whether it is started again when it ends."),
    required: z.boolean().optional().describe("Whether the box comes up only when this service does."),
  })
  .describe("A program that runs in the box beside the agent.");
export type ServiceEntry = z.infer<typeof ServiceEntry>;

const LifecycleSection = z
  .strictObject({
    ttl: Duration.optional().describe(
      "Longest life of one run of the box; the user config's limits.max_ttl is the maximum.",
    ),
    idle: Duration.optional().describe("Stop after this long without activity. Without it: never."),
    restart: RestartPolicy.optional().describe(
      "Whether the box is started again when its main session ends.",
    ),
    stop_grace: Duration.optional().describe("Time between the request to end and the end by force."),
  })
  .describe("How long the box lives.");

export const CheckEntry = z
  .strictObject({
    name: ServiceName.describe("What the check is called in a review."),
    command: Command.describe("What to run: a text for sh -c, or an array of program and arguments."),
    timeout: Duration.optional().describe("How long it may take."),
  })
  .describe("A command that must pass in a fresh box, on the agent's work, before it can be merged.");
export type CheckEntry = z.infer<typeof CheckEntry>;

/** The sections in the order they are documented and written. */
export const manifestSections = {
  agent: AgentSection,
  model: ModelSection,
  budget: BudgetSection,
  mcp: McpSection,
  workspace: WorkspaceSection,
  runtime: RuntimeSection,
  toolchains: ToolchainsSection,
  resources: ResourcesSection,
  lifecycle: LifecycleSection,
  mounts: z
    .array(MountEntry)
    .max(64)
    .describe("Directories and files of the host that the box can see. Each asks for trust."),
  env: EnvSection,
  services: z
    .record(ServiceName, ServiceEntry)
    .describe("Programs that run in the box beside the agent, each under its name."),
  network: NetworkSection,
  secrets: SecretsSection,
  security: SecuritySection,
  check: z
    .array(CheckEntry)
    .max(32)
    .describe("Commands that must pass in a fresh box, on the agent's work, before it can be merged."),
} as const;

export const Manifest = z
  .strictObject({
    version: z.literal(1).describe("Version of the manifest's form."),
    agent: manifestSections.agent.optional(),
    model: manifestSections.model.optional(),
    budget: manifestSections.budget.optional(),
    mcp: manifestSections.mcp.optional(),
    workspace: manifestSections.workspace.optional(),
    runtime: manifestSections.runtime.optional(),
    toolchains: manifestSections.toolchains.optional(),
    resources: manifestSections.resources.optional(),
    lifecycle: manifestSections.lifecycle.optional(),
    mounts: manifestSections.mounts.optional(),
    env: manifestSections.env.optional(),
    services: manifestSections.services.optional(),
    network: manifestSections.network.optional(),
    secrets: manifestSections.secrets.optional(),
    security: manifestSections.security.optional(),
    check: manifestSections.check.optional(),
  })
  .describe(
    "The contract of a box: what runs in it, on what, with which limits, what it may see of the host, what it may reach, which secrets it may use, and what it may spend.",
  );
export type Manifest = z.infer<typeof Manifest>;

/** The manifest without its version. */
export const ManifestSections = Manifest.omit({ version: true });

/** One layer's contribution, or that of the flags. */
export type ManifestValues = Omit<Manifest, "version">;

/** Names that have a meaning to come. They are refused by name, so that no file can rely on their being ignored. */
export const reservedSections = {
  placement: "where the box runs",
  adapters: "how other systems are connected",
  observability: "what is recorded",
} as const;

export const maxEnvVariables = 256;
export const maxServices = 64;
export const maxMcpServers = 64;
