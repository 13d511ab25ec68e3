import { resolve } from "node:path";
import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { findManifest } from "../new-box/find-manifest.ts";
import { age, renderTable } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const [verb = "ls", ...words] = context.args.positionals;
  const action = Object.hasOwn(actions, verb) ? actions[verb as keyof typeof actions] : undefined;
  if (action) return action(context, words);
  throw new AgentBoxError("command.unknown", `There is no "agentbox cache ${verb}".`, {
    hint: `Did you mean: agentbox cache ${suggest(verb, Object.keys(actions)) ?? "ls"}`,
  });
};

async function list({ screen, connect }: CommandContext): Promise<number> {
  const caches = await (await connect()).listCaches();
  if (screen.isJson) screen.printJson({ caches });
  else if (caches.length === 0) {
    screen.print("No project keeps package caches. Keep those of a box: agentbox cache save BOX");
  } else {
    const rows = caches.map(({ projectDir, box, bytes, savedAtMs, paths }) => [
      printable(projectDir),
      formatBytes(bytes),
      box,
      `${age(savedAtMs, Date.now())} ago`,
      paths.map((path) => `~/${path}`).join(" "),
    ]);
    screen.print(renderTable([["PROJECT", "SIZE", "FROM", "SAVED", "HOLDS"], ...rows]));
  }
  return 0;
}

async function save({ screen, connect }: CommandContext, words: readonly string[]): Promise<number> {
  const [box, ...others] = words;
  if (box === undefined || others.length > 0) {
    throw new AgentBoxError("input.invalid", "Name one box.", { hint: "Usage: agentbox cache save BOX" });
  }
  const client = await connect();
  const cache = await withProgress(screen, `Keeping the caches of ${box}`, () => client.saveCache(box));
  if (screen.isJson) screen.printJson({ cache });
  else {
    screen.print(`Kept ${formatBytes(cache.bytes)} of ${box} for ${printable(cache.projectDir)}.`);
    screen.print(
      'New boxes of this project with workspace.cache = "project" begin with a copy. What this box has put there, they may run.',
    );
  }
  return 0;
}

async function clear(context: CommandContext, words: readonly string[]): Promise<number> {
  const { screen, cwd, env } = context;
  const dir = words[0] === undefined ? cwd : resolve(cwd, words[0]);
  const projectDir = (await findManifest(dir, env))?.dir ?? dir;
  await (await context.connect()).clearCache({ projectDir });
  if (screen.isJson) screen.printJson({ projectDir });
  else screen.print(`Forgot the package caches of ${printable(projectDir)}.`);
  return 0;
}

const actions = { ls: list, save, clear } as const;
