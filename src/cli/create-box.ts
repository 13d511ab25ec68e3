import type { Client } from "../client/index.ts";
import type { CreateBoxInput, CreatedBox } from "../contract/api/schemas.ts";
import { readHostVariable } from "../host/env.ts";
import { homePaths } from "../host/home.ts";
import { asksByDefault } from "./asks-by-default.ts";
import { manifestFromFlags } from "./box-request.ts";
import type { CommandContext } from "./command.ts";
import { findManifest } from "./find-manifest.ts";
import { withProgress } from "./render/progress.ts";
import { withTrust } from "./trust-question.ts";

interface Making extends Pick<CreateBoxInput, "main" | "start"> {
  /** Somebody sits in front of the agent and can be asked about hosts that no rule names. */
  readonly isAttended?: boolean;
}

/** Makes a box from flags and the manifest that is found; asks the person when the manifest asks for more. */
export async function createBox(
  context: CommandContext,
  client: Client,
  { isAttended = false, ...more }: Making,
): Promise<CreatedBox> {
  const { args, cwd, env, screen } = context;
  const found = await findManifest(cwd, env.userHome);
  const name = args.text("name");
  const trust = args.text("trust");
  const flags = manifestFromFlags(args, cwd) ?? {};
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
    ...(found ? { ...project, variables: variablesFor(found.text) } : {}),
    ...(name === undefined ? {} : { name }),
    ...(trust === undefined ? {} : { trust }),
  };
  return withTrust(context, client, project, () =>
    withProgress(screen, "Making the box", () => client.createBox(input)),
  );
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
