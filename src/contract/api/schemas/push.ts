import { z } from "zod";
import { PushMode } from "../../review/push.ts";
import { MergeBody } from "./merge-body.ts";

/** A single line, as titles and names are. */
const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\u0000-\u001f\u007f]*$/u, "one line of text");

export const PushBody = MergeBody.omit({ message: true }).extend({
  mode: PushMode.default("squash"),
  title: line(256).optional().describe("Of the commit and the pull request. Default: the agent's words."),
  body: z.string().max(65_536).optional(),
  base: line(244).optional().describe("The branch the work is for. Default: the remote's default branch."),
  branch: line(244).optional().describe("The branch that is pushed. Default: agentbox/BOX."),
  remote: line(64).default("origin"),
  secret: line(64).optional().describe("Which secret of the vault."),
  isDraft: z.boolean().default(false),
  isPushOnly: z.boolean().default(false).describe("No pull request."),
});
