import { resolve } from "node:path";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Client } from "../../client/index.ts";
import type { PolicyAnswer } from "../../contract/api/schemas.ts";
import { networkFromFlags } from "./box-request.ts";
import type { CommandContext } from "../command.ts";
import { findManifest, getManifest } from "./find-manifest.ts";
import { withTrust } from "./trust-question.ts";

/** Puts a policy in force on a box that exists, made anew from the manifest and the flags of this command. */
export async function applyPolicy(
  context: Pick<CommandContext, "args" | "cwd" | "env" | "screen">,
  client: Client,
  box: string,
): Promise<PolicyAnswer> {
  const { args, cwd, env } = context;
  const file = args.text("manifest");
  const { projectDir } = (await client.getBox(box)).box;
  const dir = projectDir ?? cwd;
  const found =
    file === undefined ? await findManifest(dir, env) : await getManifest(cwd, env, resolve(cwd, file));
  const manifest = found && { file: found.file, text: found.text };
  const network = networkFromFlags(args);
  const trust = args.text("trust");
  const change = {
    projectDir: dir,
    flags: omitUndefined({ network }),
    ...omitUndefined({ manifest, trust }),
  };
  return withTrust(context, client, manifest && { projectDir: dir, manifest }, () =>
    client.changePolicy(box, change),
  );
}
