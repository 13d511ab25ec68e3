import { readFile } from "node:fs/promises";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import { homePaths } from "../../host/home.ts";
import { listTemplates, readTemplate, removeTemplate, saveTemplate } from "../../host/templates.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { parseTemplate } from "../new-box/template-values.ts";
import { say } from "../render/say.ts";
import { renderTable } from "../render/table.ts";

type Verb = (context: CommandContext, words: readonly string[]) => Promise<number>;

const verbs: Readonly<Record<string, Verb>> = { ls: list, show, save, rm: remove };
const homeOf = ({ env }: CommandContext): string => homePaths(env.agentboxHome).root;

export const run: RunCommand = async (context) => {
  const [verb = "ls", ...words] = context.args.positionals;
  const action = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (action) return action(context, words);
  throw new AgentBoxError("command.unknown", `There is no "agentbox template ${verb}".`, {
    hint: `Did you mean: agentbox template ${suggest(verb, Object.keys(verbs)) ?? "ls"}`,
  });
};

async function list(context: CommandContext): Promise<number> {
  const { screen, env } = context;
  const files = await listTemplates(homeOf(context), env);
  const templates = await Promise.all(
    files.map(async ({ name, text }) => ({ name, sections: Object.keys(await parseTemplate(name, text)) })),
  );
  if (screen.isJson) screen.printJson({ templates });
  else if (templates.length === 0)
    screen.print("No templates yet. Save one: agentbox template save NAME FILE");
  else
    screen.print(
      renderTable([["NAME", "SETS"], ...templates.map(({ name, sections }) => [name, sections.join(" ")])]),
    );
  return 0;
}

async function show(context: CommandContext, words: readonly string[]): Promise<number> {
  const text = await readTemplate(homeOf(context), context.env, nameIn("show", words));
  if (context.screen.isJson) context.screen.printJson({ name: words[0], text });
  else for (const line of text.trimEnd().split("\n")) context.screen.print(printable(line));
  return 0;
}

async function save(context: CommandContext, words: readonly string[]): Promise<number> {
  const name = nameIn("save", words);
  const file = words[1] ?? "agentbox.toml";
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new AgentBoxError("file.failed", `${file} cannot be read: ${messageOf(error)}.`, {
      hint: "Name a file with sections of a manifest: agentbox template save NAME FILE",
    });
  });
  await parseTemplate(name, text);
  await saveTemplate(homeOf(context), name, text);
  return say(context, { name }, `Saved ${name}. Use it: agentbox run --template ${name}`);
}

async function remove(context: CommandContext, words: readonly string[]): Promise<number> {
  const name = nameIn("rm", words);
  await removeTemplate(homeOf(context), context.env, name);
  return say(context, { name }, `Removed ${name}.`);
}

function nameIn(verb: string, [name]: readonly string[]): string {
  if (name !== undefined) return name;
  throw new AgentBoxError("input.invalid", `Which template? agentbox template ${verb} NAME`, {
    hint: "List them: agentbox template ls",
  });
}
