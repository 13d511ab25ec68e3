import { z } from "zod";
import { Host, Word } from "./scalars.ts";

const hosts = (forge: string) =>
  z
    .array(Host)
    .max(64)
    .optional()
    .describe(
      `Hosts that are ${forge}, besides the public one. "http://127.0.0.1:port" for a server on this machine that has no TLS.`,
    );

/** A person's own word on where work may be pushed. SECURITY: no manifest has this section, or a repository would say so itself. */
export const PushSection = z
  .strictObject({
    branches: z
      .array(z.string().min(1).max(256))
      .max(64)
      .optional()
      .describe(
        'Branches that work may be pushed to, besides "agentbox/**": "*" stands for one part, "**" for any. Never the default branch of a repository, nor the one a pull request is for.',
      ),
    secret: Word.optional().describe(
      "Which secret of the vault is used for hosts of known forges. Without it: the one that is called like the forge, such as github.",
    ),
    github: hosts("GitHub"),
    gitlab: hosts("GitLab"),
    gitea: hosts("Gitea or Forgejo"),
    hosts: z
      .array(Host)
      .max(64)
      .optional()
      .describe(
        "Other hosts that work may be pushed to, with --secret. They have no pull requests that could be opened from here.",
      ),
  })
  .describe("Where `agentbox pr` and `agentbox push` may push to. User config only.");
export type PushSection = z.infer<typeof PushSection>;
