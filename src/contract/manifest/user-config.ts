import { z } from "zod";
import { Duration } from "./scalars.ts";
import { manifestSections } from "./schema.ts";

const LimitsSection = z
  .strictObject({ max_ttl: Duration.optional().describe("Longest time to live that any box may ask for.") })
  .describe("What no manifest may exceed. User config only.");

const UidsSection = z
  .strictObject({
    first: z
      .int()
      .min(1_000)
      .max(4_000_000_000)
      .describe("First user id that boxes of a root daemon may get."),
    count: z.int().min(1).max(1_000_000).describe("How many user ids there are from the first on."),
  })
  .describe("User ids for the boxes of a daemon that runs as root. User config only.");

export const userConfigSections = {
  agent: manifestSections.agent,
  workspace: manifestSections.workspace,
  runtime: manifestSections.runtime,
  resources: manifestSections.resources,
  lifecycle: manifestSections.lifecycle,
  limits: LimitsSection,
  uids: UidsSection,
} as const;

/** `config.toml` in AGENTBOX_HOME: a person's own defaults, and what no manifest may exceed. */
export const UserConfig = z
  .strictObject({
    agent: userConfigSections.agent.optional(),
    workspace: userConfigSections.workspace.optional(),
    runtime: userConfigSections.runtime.optional(),
    resources: userConfigSections.resources.optional(),
    lifecycle: userConfigSections.lifecycle.optional(),
    limits: userConfigSections.limits.optional(),
    uids: userConfigSections.uids.optional(),
  })
  .describe("A person's own defaults, and what no manifest may exceed.");
export type UserConfig = z.infer<typeof UserConfig>;
