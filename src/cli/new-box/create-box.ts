import { readFile } from "node:fs/promises";
import { isAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Client } from "../../client/index.ts";
import type { RouteBodyInput } from "../../contract/api/routes.ts";
import type { CreateBoxInput, CreatedBox } from "../../contract/api/schemas.ts";
import { readHostVariable } from "../../host/env.ts";
import { homePaths } from "../../host/home.ts";
import { asksByDefault } from "./asks-by-default.ts";
import type { CommandContext } from "../command.ts";
import { buildWithProgress } from "./build-image.ts";
import { findManifest } from "./find-manifest.ts";
import { installMissing } from "./install-agent.ts";
import { withProgress } from "../render/progress.ts";
import { typedValues } from "./set-flag.ts";
import { withTrust } from "./trust-question.ts";

const readConfig = (file: string): Promise<string | undefined> =>
  readFile(file, "utf8").catch(() => undefined);

const keyVariables = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];

interface Making extends Pick<CreateBoxInput, "main" | "run" | "start" | "ephemeral"> {
  /** Somebody sits in front of the agent and can be asked about hosts that no rule names. */
  readonly isAttended?: boolean;
  /** In the place of what was typed. */
  readonly agent?: string;
  readonly name?: string;
  /** Called when the request is on its way: what is loaded before would only keep it waiting. */
  readonly meanwhile?: () => void;
}

/** Makes a box from flags and the manifest that is found; asks the person when the manifest asks for more. */
export async function createBox(
  context: CommandContext,
  client: Client,
  { isAttended = false, agent, name: chosen, meanwhile, ...more }: Making,
): Promise<CreatedBox> {
  const { args, cwd, env, screen } = context;
  const found = await findManifest(cwd, env);
  const name = chosen ?? args.text("name");
  const trust = args.text("trust");
  const typed = (await typedValues(args, cwd, context.command.flags)) ?? {};
  const flags = agent === undefined ? typed : { ...typed, agent: { ...typed.agent, name: agent } };
  const asks =
    isAttended &&
    flags.network?.default === undefined &&
    !args.isSet("learn") &&
    (await asksByDefault(found?.text, homePaths(env.agentboxHome).config));
  const project = found && { projectDir: found.dir, manifest: { file: found.file, text: found.text } };
  const input: CreateBoxInput = {
    ...more,
    projectDir: found?.dir ?? cwd,
    flags: asks ? { ...flags, network: { ...flags.network, default: "ask" } } : flags,
    ...project,
    variables: variablesFor([found?.text, await readConfig(homePaths(env.agentboxHome).config)]),
    ...omitUndefined({ name, trust }),
  };
  const make = () =>
    withProgress(screen, "Making the box", () => {
      const making = client.createBox(input);
      meanwhile?.();
      return making;
    });
  return withTrust(context, client, project, () => withInstall(context, client, imageRequestOf(input), make));
}

type ImageRequest = RouteBodyInput<"buildImage">;

/** What the image of a box is made from is part of what the box is made from. */
const imageRequestOf = ({ projectDir, manifest, flags, trust }: CreateBoxInput): ImageRequest =>
  omitUndefined({ projectDir, manifest, flags, trust });

/** The same from flags and the manifest that is found, without a box. */
export async function imageRequest({ args, command, cwd, env }: CommandContext): Promise<ImageRequest> {
  const found = await findManifest(cwd, env);
  const flags = await typedValues(args, cwd, command.flags);
  const trust = args.text("trust");
  return imageRequestOf({
    projectDir: found?.dir ?? cwd,
    ...(found === undefined ? {} : { manifest: { file: found.file, text: found.text } }),
    ...omitUndefined({ flags, trust }),
  });
}

/** An agent that is missing is installed and an image that is missing is built, once each, unless nobody wants that. */
export async function withInstall<T>(
  context: CommandContext,
  client: Client,
  image: ImageRequest,
  attempt: () => Promise<T>,
  done: readonly string[] = [],
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const isMissing =
      isAgentBoxError(error) && (error.code === "tool.not_installed" || error.code === "image.not_built");
    if (!isMissing || done.includes(error.code) || context.args.isSet("no-install")) throw error;
    if (error.code === "tool.not_installed") await installMissing(context, client, error);
    else await buildWithProgress(context, client, image);
    return withInstall(context, client, image, attempt, [...done, error.code]);
  }
}

/**
 * Values of the host variables that a manifest names, from where the command was typed; the daemon's own environment
 * is that of whoever started it. They are used only if the manifest's request is trusted. Keys of model providers stay
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
