import { z } from "zod";

/** How the work would land if nothing else is said: what the dialogs of a merge and a pull request begin with. */
export const LandingProposal = z.object({
  message: z.string().describe("Of the one commit: the agent's own words, or its task."),
  branch: z.string().optional().describe("The branch of the project that a merge moves."),
  remoteBranch: z.string().optional().describe("The branch of the remote that a pull request is for."),
});
export type LandingProposal = z.infer<typeof LandingProposal>;
