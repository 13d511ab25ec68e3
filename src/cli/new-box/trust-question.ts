import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import { askYesNo } from "../render/ask.ts";
import type { CommandContext } from "../command.ts";
import { requestsOf } from "../render/error.ts";

type Project = Parameters<Client["askTrust"]>[0];

/** Tries; when the manifest asks for more than was agreed to, asks the person and tries once more. */
export async function withTrust<T>(
  context: Pick<CommandContext, "screen">,
  client: Client,
  project: Project | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isAgentBoxError(error, "trust.required") || project === undefined) throw error;
    await askForTrust(context, client, error, project);
    return attempt();
  }
}

/** Shows what is asked and takes a person's yes; throws the refusal without a terminal, or when the answer is no. */
export async function askForTrust(
  { screen }: Pick<CommandContext, "screen">,
  client: Client,
  refusal: AgentBoxError,
  project: Project,
): Promise<void> {
  const digest = refusal.facts?.["digest"];
  if (typeof digest !== "string") throw refusal;
  if (!screen.isInteractive || screen.isJson) {
    const hint = `Read the list, then agree with: --trust ${digest}`;
    throw new AgentBoxError(refusal.code, refusal.message, {
      facts: refusal.facts,
      problems: refusal.problems?.map((problem) =>
        problem.code === refusal.code ? { ...problem, hint } : problem,
      ),
      hint,
    });
  }
  showRequests(screen, printable(project.projectDir), requestsOf(refusal));
  if (!(await askYesNo(screen, "Allow exactly this for this project?"))) throw refusal;
  await client.grantTrust({ ...project, digest });
}

export function showRequests(
  screen: CommandContext["screen"],
  project: string,
  requests: readonly string[],
): void {
  screen.note(
    `${screen.errorStyle.bold("The manifest of this project asks for more than its workspace")} (${project}):`,
  );
  // SECURITY: the text comes from the repository; it must not be able to redraw the question.
  for (const request of requests) screen.note(`  ${screen.errorStyle.yellow("•")} ${printable(request)}`);
}
