import { readFile } from "node:fs/promises";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { type Client, planProblems } from "../../client/index.ts";
import type { CreateBoxInput, CreatedBox } from "../../contract/api/schemas.ts";
import type { ManifestValues } from "../../manifest/schema.ts";
import { refusalOf } from "../../contract/plan.ts";
import { readHostVariable } from "../../host/env.ts";
import { homePaths } from "../../host/home.ts";
import type { CommandContext } from "../command.ts";
import { personVariables } from "./person-variables.ts";
import { findManifest } from "./find-manifest.ts";
import { withProgress } from "../render/progress.ts";
import { over, typedValues } from "./set-flag.ts";
import { templateValues } from "./template-values.ts";
import { type ImageRequest, solvingProblems } from "./solve-problems.ts";

const readConfig = (file: string): Promise<string | undefined> =>
  readFile(file, "utf8").catch(() => undefined);

const keyVariables = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];

interface Making extends Pick<CreateBoxInput, "main" | "run" | "exec" | "attended" | "start" | "ephemeral"> {
  /** In place of what was typed. */
  readonly agent?: string;
  readonly name?: string;
  /** Called when the request is on its way: what is loaded before would only keep it waiting. */
  readonly meanwhile?: () => void;
}

/** The request of a command, from its flags and the manifest that is found. */
export async function boxInput(
  { args, cwd, env, command }: CommandContext,
  { agent, name: chosen, meanwhile: _meanwhile, ...more }: Making,
): Promise<CreateBoxInput> {
  const person = personVariables();
  const found = await findManifest(cwd, env);
  const name = chosen ?? args.text("name");
  const trust = args.text("trust");
  const typed = over(
    await templateValues(env, args.text("template")),
    (await typedValues(args, cwd, command.flags)) ?? {},
  ) as ManifestValues;
  return {
    ...more,
    projectDir: found?.dir ?? cwd,
    flags: agent === undefined ? typed : { ...typed, agent: { ...typed.agent, name: agent } },
    ...(found === undefined ? {} : { manifest: { file: found.file, text: found.text } }),
    variables: { ...(await person), ...(await hostVariables({ env }, found?.text)) },
    ...omitUndefined({ name, trust }),
  };
}

/** Makes a box from flags and the manifest that is found; solves what can be solved on the way. */
export async function createBox(
  context: CommandContext,
  client: Client,
  making: Making,
): Promise<CreatedBox> {
  const input = await boxInput(context, making);
  if (context.screen.isInteractive) {
    const { offerToolchains } = await import("./offer-toolchains.ts");
    await offerToolchains(context, client, input);
  }
  const make = () =>
    withProgress(context.screen, "Creating the box", () => {
      const made = client.createBox(input);
      making.meanwhile?.();
      return made;
    });
  return solvingProblems(context, client, imageRequestOf(input), make);
}

/** Solves what can be solved before anything is made; throws the problems that remain. */
export async function planSound(
  context: CommandContext,
  client: Client,
  input: CreateBoxInput,
): Promise<void> {
  await solvingProblems(context, client, imageRequestOf(input), async () => {
    const problems = await planProblems(client, input);
    if (problems.length > 0) throw refusalOf(problems);
  });
}

/** The command that a box was planned to run by its caller. */
export function plannedExec({ box, command }: CreatedBox): { argv: string[]; env: Record<string, string> } {
  if (command.kind !== "exec") throw new TypeError(`the box ${box.name} was not planned to run a command`);
  const { argv, env } = command;
  return { argv, env };
}

const imageRequestOf = ({ projectDir, manifest, flags, trust }: CreateBoxInput): ImageRequest =>
  omitUndefined({ projectDir, manifest, flags, trust });

/** The inputs of the image of such a box. */
export const imageRequest = async (context: CommandContext): Promise<ImageRequest> =>
  imageRequestOf(await boxInput(context, {}));

/** Values of the variables that a manifest and the user config name. */
export const hostVariables = async (
  { env }: Pick<CommandContext, "env">,
  manifest: string | undefined,
): Promise<Record<string, string>> =>
  variablesFor([manifest, await readConfig(homePaths(env.agentboxHome).config)]);

/**
 * Values of the host variables that a manifest names, from where the command was typed; the daemon's own environment
 * is the caller's. They are used only if the manifest's request is trusted. Keys of model providers stay
 * in the daemon's memory and never enter a box.
 */
function variablesFor(texts: readonly (string | undefined)[]): Record<string, string> {
  const named = texts.flatMap((text) =>
    [...(text ?? "").matchAll(/(?:from_host|key_env)\s*=\s*["']([A-Za-z_][A-Za-z0-9_]*)["']/g)].map(
      ([, name]) => name!,
    ),
  );
  const found = [...new Set([...named, ...keyVariables])].flatMap((name) => {
    const value = readHostVariable(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}
