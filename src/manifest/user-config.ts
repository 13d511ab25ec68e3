import { z } from "zod";
import { NoticesSection } from "./sections/notices-section.ts";
import { PushSection } from "./sections/push-section.ts";
import { Duration } from "./sections/scalars.ts";
import { manifestSections } from "./schema.ts";
import { TrustSection } from "./sections/trust-section.ts";
import { WebSection } from "./sections/web-section.ts";

const RemovedSection = z
  .strictObject({
    keep_days: z
      .int()
      .min(0)
      .max(365)
      .optional()
      .describe(
        "Days that the work of a removed box is kept, for `agentbox restore`; 7 without it, 0 keeps nothing.",
      ),
  })
  .describe("What is kept of removed boxes. User config only.");

const ApprovalsSection = z
  .strictObject({
    wait: Duration.optional().describe(
      "How long a question of a box waits for an answer before it counts as a no; `5m` without it, 10 seconds to 1 hour.",
    ),
  })
  .describe("Questions of boxes. User config only.");

const LimitsSection = z
  .strictObject({ max_ttl: Duration.optional().describe("Longest time to live that any box may ask for.") })
  .describe("What no manifest may exceed. User config only.");

export const userConfigSections = {
  agent: manifestSections.agent,
  model: manifestSections.model,
  budget: manifestSections.budget,
  mcp: manifestSections.mcp,
  workspace: manifestSections.workspace,
  runtime: manifestSections.runtime,
  resources: manifestSections.resources,
  lifecycle: manifestSections.lifecycle,
  network: manifestSections.network,
  secrets: manifestSections.secrets,
  approvals: ApprovalsSection,
  limits: LimitsSection,
  notices: NoticesSection,
  push: PushSection,
  removed: RemovedSection,
  trust: TrustSection,
  web: WebSection,
} as const;

/** `config.toml` in AGENTBOX_HOME: a person's own defaults, and what no manifest may exceed. */
export const UserConfig = z
  .strictObject({
    version: z.literal(1).optional().describe("Version of the form; 1 without it."),
    agent: userConfigSections.agent.optional(),
    model: userConfigSections.model.optional(),
    budget: userConfigSections.budget.optional(),
    mcp: userConfigSections.mcp.optional(),
    workspace: userConfigSections.workspace.optional(),
    runtime: userConfigSections.runtime.optional(),
    resources: userConfigSections.resources.optional(),
    lifecycle: userConfigSections.lifecycle.optional(),
    network: userConfigSections.network.optional(),
    secrets: userConfigSections.secrets.optional(),
    approvals: userConfigSections.approvals.optional(),
    limits: userConfigSections.limits.optional(),
    notices: userConfigSections.notices.optional(),
    push: userConfigSections.push.optional(),
    removed: userConfigSections.removed.optional(),
    trust: userConfigSections.trust.optional(),
    web: userConfigSections.web.optional(),
  })
  .describe("A person's own defaults, and what no manifest may exceed.");
export type UserConfig = z.infer<typeof UserConfig>;

/** The host policy, `/etc/agentbox/policy.toml`: the owner's settings for all users of the machine. */
export const HostPolicy = z
  .strictObject({ network: manifestSections.network.optional() })
  .describe("What the owner of the machine sets for everybody on it.");
