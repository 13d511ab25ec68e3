import { AgentBoxError, isAgentBoxError } from "../base/errors.ts";
import { printable } from "../base/printable.ts";
import type { Client } from "../client/index.ts";
import type { CreateBoxInput, CreatedBox } from "../contract/api/schemas.ts";
import { readHostVariable } from "../host/env.ts";
import { askYesNo } from "./ask.ts";
import { manifestFromFlags } from "./box-request.ts";
import type { CommandContext } from "./command.ts";
import { findManifest } from "./find-manifest.ts";
import { requestsOf } from "./render/error.ts";
import { withProgress } from "./render/progress.ts";

/** Makes a box from flags and the manifest that is found; asks the person when the manifest asks for more. */
export async function createBox(
  context: CommandContext,
  client: Client,
  more: Pick<CreateBoxInput, "main" | "start">,
): Promise<CreatedBox> {
  const { args, cwd, env, screen } = context;
  const found = await findManifest(cwd, env.userHome);
  const name = args.text("name");
  const trust = args.text("trust");
  const input: CreateBoxInput = {
    ...more,
    projectDir: found?.dir ?? cwd,
    flags: manifestFromFlags(args, cwd) ?? {},
    ...(found
      ? { manifest: { file: found.file, text: found.text }, variables: variablesFor(found.text) }
      : {}),
    ...(name === undefined ? {} : { name }),
    ...(trust === undefined ? {} : { trust }),
  };
  const create = () => withProgress(screen, "Making the box", () => client.createBox(input));
  try {
    return await create();
  } catch (error) {
    if (!isAgentBoxError(error, "trust.required") || found === undefined) throw error;
    await askForTrust(context, client, error, {
      projectDir: found.dir,
      manifest: { file: found.file, text: found.text },
    });
    return create();
  }
}

/**
 * Values of the host variables that a manifest names, from where the command was typed; the daemon's own environment
 * is that of whoever started it. They are used only if the manifest's request is trusted.
 */
function variablesFor(manifest: string): Record<string, string> {
  const names = [...manifest.matchAll(/from_host\s*=\s*["']([A-Za-z_][A-Za-z0-9_]*)["']/g)].map(
    ([, name]) => name!,
  );
  const found = names.flatMap((name) => {
    const value = readHostVariable(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

type Project = Parameters<Client["askTrust"]>[0];

/** Shows what is asked and takes a person's yes; throws the refusal when there is nobody, or the answer is no. */
async function askForTrust(
  { screen }: Pick<CommandContext, "screen">,
  client: Client,
  refusal: AgentBoxError,
  project: Project,
): Promise<void> {
  const digest = refusal.facts?.["digest"];
  if (typeof digest !== "string") throw refusal;
  if (!screen.isInteractive || screen.isJson) {
    throw new AgentBoxError(refusal.code, refusal.message, {
      facts: refusal.facts,
      hint: `Read the list, then agree with: --trust ${digest}`,
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
