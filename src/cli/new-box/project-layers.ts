import { readFile } from "node:fs/promises";
import { AgentBoxError } from "../../base/errors.ts";
import type { CheckContext, Finding, ManifestLayer } from "../../manifest/index.ts";
import { parseDuration } from "../../base/duration.ts";
import { homePaths } from "../../host/home.ts";
import type { CommandContext } from "../command.ts";
import type { FoundManifest } from "./find-manifest.ts";

export interface ProjectLayers {
  /** Lowest first; a layer with errors is missing. */
  readonly layers: readonly ManifestLayer[];
  readonly findings: readonly Finding[];
}

type Needs = Pick<CommandContext, "env" | "loadCatalogue">;

async function readUserConfig(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}

/** The person's own config and the project's manifest, checked the way the daemon checks them. */
export async function readProjectLayers(
  context: Needs,
  manifest: FoundManifest | undefined,
): Promise<ProjectLayers> {
  const { parseManifest, parseUserConfig } = await import("../../manifest/index.ts");
  const { agents, runtimeNames, loadPresetNames } = await context.loadCatalogue();
  const { config, root } = homePaths(context.env.agentboxHome);
  const base: CheckContext = {
    agents: Object.keys(agents),
    agentOptions: Object.fromEntries(Object.entries(agents).map(([name, { options }]) => [name, options])),
    runtimes: runtimeNames,
    presets: await loadPresetNames(),
    nowMs: Date.now(),
    userHome: context.env.userHome,
    agentboxHome: root,
  };
  const userText = await readUserConfig(config);
  const user = userText === undefined ? undefined : parseUserConfig(userText, { ...base, file: config });
  if (user && !user.layer) throw invalidManifest(config, user.findings);
  const maxTtlMs = parseDuration(user?.config?.limits?.max_ttl ?? "");
  const providers = Object.keys(user?.config?.model?.providers ?? {});
  const project =
    manifest && parseManifest(manifest.text, { ...base, file: manifest.file, maxTtlMs, providers });
  return {
    layers: [user?.layer, project?.layer].filter((layer) => layer !== undefined),
    findings: project?.findings ?? [],
  };
}

export function invalidManifest(file: string, findings: readonly Finding[]): AgentBoxError {
  return new AgentBoxError(
    "manifest.invalid",
    `${file} breaks ${findings.length === 1 ? "a rule" : `${findings.length} rules`}.`,
    {
      hint: "Run: agentbox validate",
      facts: { file, findings },
    },
  );
}
