/** start, stop, restart, pause and resume: the same shape, one call each. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Client } from "../../client/index.ts";
import type { Box } from "../../contract/box.ts";
import type { Arguments } from "../line/arguments.ts";
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { forEachBox } from "../boxes/for-each-box.ts";

interface Verb {
  readonly doing: string;
  readonly done: string;
  call(client: Client, box: string, args: Arguments): Promise<{ box: Box }>;
}

const verbs: Readonly<Record<string, Verb>> = {
  start: { doing: "Starting", done: "started", call: (client, box) => client.startBox(box) },
  stop: {
    doing: "Stopping",
    done: "stopped",
    call: (client, box, args) => {
      const graceMs = args.durationMs("grace");
      return client.stopBox(box, omitUndefined({ graceMs }));
    },
  },
  restart: { doing: "Restarting", done: "restarted", call: (client, box) => client.restartBox(box) },
  pause: { doing: "Pausing", done: "paused", call: (client, box) => client.pauseBox(box) },
  resume: { doing: "Resuming", done: "resumed", call: (client, box) => client.resumeBox(box) },
};

/** `start claude` means a box that does not exist yet. */
const meantAgent =
  ({ command, loadCatalogue }: CommandContext, name: string) =>
  async (error: unknown): Promise<never> => {
    const isStart = command.name === "start" && isAgentBoxError(error, "box.not_found");
    if (!isStart || !Object.hasOwn((await loadCatalogue()).agents, name)) throw error;
    throw new AgentBoxError("box.not_found", `There is no box named "${name}", but an agent.`, {
      hint: `agentbox start ${name} → agentbox run ${name}`,
      facts: { box: name, suggestion: `run ${name}` },
    });
  };

export const run: RunCommand = async (context) => {
  const verb = verbs[context.command.name]!;
  const client = await context.connect();
  return forEachBox(context, (name) =>
    withProgress(context.screen, `${verb.doing} ${name}`, async () => {
      const { box } = await verb.call(client, name, context.args).catch(meantAgent(context, name));
      return { data: box, text: `${verb.done} ${name}` };
    }),
  );
};
