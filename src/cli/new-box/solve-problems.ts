import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";
import type { RouteBodyInput } from "../../contract/api/routes.ts";
import { isRemediable, problemsOf } from "../../contract/plan.ts";
import { buildWithProgress } from "./build-image.ts";
import type { CommandContext } from "../command.ts";
import { installMissing } from "./install-agent.ts";
import { askForTrust } from "./trust-question.ts";

/** The inputs of a box's image. */
export type ImageRequest = RouteBodyInput<"buildImage">;

/**
 * Tries; where all problems of the plan can be solved on the way, solves them and tries again: a person is asked for
 * trust, an agent that is missing is installed and an image that is missing is built. Each once, and none of them while
 * another problem would refuse the box all the same.
 */
export async function solvingProblems<T>(
  context: CommandContext,
  client: Client,
  image: ImageRequest,
  attempt: () => Promise<T>,
  solved: readonly string[] = [],
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isAgentBoxError(error)) throw error;
    const problems = problemsOf(error);
    const [first] = problems;
    if (first === undefined || solved.includes(first.code) || !problems.every(isRemediable)) throw error;
    await solve(context, client, image, error);
    return solvingProblems(context, client, image, attempt, [...solved, first.code]);
  }
}

async function solve(
  context: CommandContext,
  client: Client,
  { projectDir, manifest, ...more }: ImageRequest,
  error: AgentBoxError,
): Promise<void> {
  if (error.code === "trust.required") {
    if (projectDir === undefined || manifest === undefined) throw error;
    return askForTrust(context, client, error, { projectDir, manifest });
  }
  if (context.args.isSet("no-install")) throw error;
  if (error.code === "tool.not_installed") await installMissing(context, client, error);
  else await buildWithProgress(context, client, { projectDir, manifest, ...more });
}
