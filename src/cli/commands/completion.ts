import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import { homePaths } from "../../host/home.ts";
import { listTemplates } from "../../host/templates.ts";
import { filterKeys } from "../boxes/box-filter.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { complete, type ListNames } from "../line/complete.ts";
import { completionScripts } from "../line/completion.ts";
import { commands } from "../table/index.ts";

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const [shell = ""] = args.positionals;
  // The scripts of the shells call this with every key.
  if (shell === "words") return showWords(context, args.rest ?? []);
  if (!Object.hasOwn(completionScripts, shell)) {
    throw new AgentBoxError("input.invalid", `There is no completion for "${shell}".`, {
      hint: "Choose bash, zsh or fish.",
    });
  }
  screen.print(completionScripts[shell as keyof typeof completionScripts]);
  return 0;
};

async function showWords(context: CommandContext, words: readonly string[]): Promise<number> {
  const { screen, loadCatalogue } = context;
  const found = await complete(words, {
    commands,
    listNames: namesFrom(context),
    withAgentFlags: async (command, argv) => {
      const { withAgentFlags } = await import("../line/agent-flags.ts");
      return withAgentFlags(command, [...argv, "--help"], loadCatalogue);
    },
  });
  if (found === "files") screen.print(":files");
  else
    for (const { word, about } of found)
      screen.print(about === undefined ? printable(word) : `${printable(word)}\t${about}`);
  return 0;
}

/** A key press starts no daemon, and is no time to wait for one or to tell what is wrong with it. */
const namesFrom =
  ({ env, loadCatalogue }: CommandContext): ListNames =>
  async (kind, box) => {
    const ask = async (read: (client: Client) => Promise<readonly string[]>): Promise<readonly string[]> => {
      const { connectToRunning } = await import("../daemon/connect.ts");
      return read(connectToRunning(env)).catch(() => []);
    };
    switch (kind) {
      case "box":
        return ask(async (client) => (await client.listBoxes()).map(({ name }) => name));
      case "agent": {
        const known = Object.keys((await loadCatalogue()).agents);
        return [
          ...new Set([
            ...known,
            ...(await ask(async (client) => (await client.listAgents()).map(({ name }) => name))),
          ]),
        ];
      }
      case "secret":
        return ask(async (client) => (await client.listSecrets()).map(({ secret }) => secret.name));
      case "removed":
        return ask(async (client) => (await client.listRemoved()).map(({ name }) => name));
      case "checkpoint":
        return ask(async (client) =>
          (await client.listCheckpoints(box ?? "")).flatMap(({ number, name }) => name ?? String(number)),
        );
      case "template":
        return (await listTemplates(homePaths(env.agentboxHome).root, env).catch(() => [])).map(
          ({ name }) => name,
        );
      case "port":
        return ask(async (client) => (await client.listPorts(box ?? "")).map(({ port }) => String(port)));
      case "preset":
        return (await loadCatalogue()).loadPresetNames();
      case "runtime":
        return (await loadCatalogue()).runtimeNames;
      case "command":
        return commands.map(({ name }) => name);
      case "filter":
        return filterKeys.map((key) => `${key}=`);
      case "event":
        return (await import("../../contract/events.ts")).EventType.options;
      case "file":
        return [];
      default:
        return kind satisfies never;
    }
  };
