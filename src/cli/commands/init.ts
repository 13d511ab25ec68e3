import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { ManifestValues } from "../../manifest/schema.ts";
import { pathKind } from "../../host/files.ts";
import { askText } from "../render/ask.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { manifestName } from "../new-box/find-manifest.ts";

export const run: RunCommand = async (context) => {
  const { args, screen, cwd } = context;
  const file = join(cwd, manifestName);
  if ((await pathKind(file)) !== undefined && !args.isSet("force")) {
    throw new AgentBoxError("manifest.exists", `${file} exists already.`, {
      hint: "Change it, or replace it with --force.",
    });
  }
  const { parseFlags, renderManifest } = await import("../../manifest/index.ts");
  const { agents } = await context.loadCatalogue();
  const values = await collectValues(context);
  parseFlags(values, { agents: Object.keys(agents) });
  // Not through a link: the name in this directory is what is written, whatever a repository has put there.
  await writeFile(file, renderManifest(values), { flag: args.isSet("force") ? "w" : "wx", mode: 0o644 });
  if (screen.isJson) screen.printJson({ file, values });
  else screen.print(`Wrote ${printable(file)}. Next: agentbox run`);
  return 0;
};

async function collectValues({ args, screen, cwd }: CommandContext): Promise<ManifestValues> {
  const isAsking = screen.isInteractive && !args.isSet("yes") && !screen.isJson;
  const value = async (flag: string, question: string, fallback: string): Promise<string | undefined> => {
    const given = args.text(flag);
    if (given !== undefined) return given;
    const answer = isAsking ? await askText(screen, question, fallback) : fallback;
    return answer === "" ? undefined : answer;
  };
  const ownMode = (await pathKind(join(cwd, ".git"))) === undefined ? "copy" : "clone";
  const name = await value("agent", "Which agent?", "shell");
  const mode = await value(
    "workspace",
    "Work on a clone, a copy, the directory itself (mount), or nothing (empty)?",
    ownMode,
  );
  const memory = await value("memory", "Most memory, such as 4GiB?", "");
  const cpus = await value("cpus", "Processors, such as 2?", "");
  const ttl = await value("ttl", "Longest life of one run?", "8h");
  const idle = args.text("idle");
  const resources = { ...(memory ? { memory } : {}), ...(cpus ? { cpus: Number(cpus) } : {}) };
  return {
    agent: name ? { name } : {},
    workspace: { mode: (mode ?? ownMode) as NonNullable<ManifestValues["workspace"]>["mode"] },
    ...(Object.keys(resources).length > 0 ? { resources } : {}),
    lifecycle: { ...(ttl ? { ttl } : {}), ...(idle ? { idle } : {}) },
  };
}
