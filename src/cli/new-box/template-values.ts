/** The values of a template: a partial manifest, over which flags win and which wins over the project's file. */
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import type { HostEnv } from "../../host/env.ts";
import { homePaths } from "../../host/home.ts";
import { readTemplate } from "../../host/templates.ts";
import type { ManifestValues } from "../../manifest/schema.ts";

export async function templateValues(env: HostEnv, name: string | undefined): Promise<ManifestValues> {
  if (name === undefined) return {};
  return parseTemplate(name, await readTemplate(homePaths(env.agentboxHome).root, env, name));
}

/** Only its form is read here; the daemon checks what it says, as with any flag. */
export async function parseTemplate(name: string, text: string): Promise<ManifestValues> {
  const { parse } = await import("smol-toml");
  try {
    const { version: _version, ...values } = parse(text);
    return values;
  } catch (error) {
    throw new AgentBoxError(
      "input.invalid",
      `The template ${name} is not TOML: ${messageOf(error).split("\n")[0]}.`,
      {
        hint: "Write sections of a manifest, such as [agent] and [budget.run].",
      },
    );
  }
}
