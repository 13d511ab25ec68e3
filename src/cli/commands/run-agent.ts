/** `run` for agents with a task: made, watched to its end, judged. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Client } from "../../client/index.ts";
import type { CreateBoxInput } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
import type { Arguments } from "../line/arguments.ts";
import type { CommandContext } from "../command.ts";
import { createBox } from "../new-box/create-box.ts";
import { showWarnings } from "../render/notes.ts";

/** A box with a name is meant to stay, even one that does not come up; of any other nothing is left then. */
export const isEphemeral = (args: Arguments): boolean => !args.isSet("keep") && !args.isSet("name");

/** A task without a person at a terminal. */
export async function runTask(context: CommandContext, client: Client, task: string): Promise<number> {
  const { args, screen } = context;
  const timeoutMs = args.durationMs("timeout");
  const { lastId } = await client.listEvents({ limit: 1, order: "newest" });
  const run = { mode: "headless" as const, task, ...omitUndefined({ timeoutMs }) };
  const box = args.isSet("resume") ? await resume(context, client, run) : await make(context, client, run);
  if (args.isSet("detach")) {
    if (screen.isJson) screen.printJson({ box });
    else screen.print(box.name);
    return 0;
  }
  // Loaded here, because reading an agent's events takes schemas, and a plain command has neither.
  const { watchRun } = await import("../boxes/watch-run.ts");
  const exitCode = await watchRun(context, client, box, lastId);
  if (args.isSet("rm")) await client.removeBox(box.name, { force: true });
  return exitCode;
}

type Run = NonNullable<CreateBoxInput["run"]>;

async function make(context: CommandContext, client: Client, run: Run): Promise<Box> {
  const { args, screen } = context;
  const created = await createBox(context, client, { start: true, ephemeral: isEphemeral(args), run });
  if (!args.isSet("quiet") && screen.streams.stderr.isTTY) showWarnings(screen, created);
  return created.box;
}

async function resume(context: CommandContext, client: Client, run: Run): Promise<Box> {
  const name = await findResumable(context, client);
  return (await client.startRun(name, run)).box;
}

/** The box that was named, or the latest one of this agent on this directory. */
export async function findResumable({ args, cwd }: CommandContext, client: Client): Promise<string> {
  const named = args.text("name");
  if (named !== undefined) return named;
  const agent = args.positionals[0];
  const boxes = (await client.listBoxes())
    .filter((box) => box.agentState !== undefined && (agent === undefined || box.agent === agent))
    .filter(
      ({ projectDir }) =>
        projectDir !== undefined && (cwd === projectDir || cwd.startsWith(`${projectDir}/`)),
    )
    .sort((a, b) => b.sinceMs - a.sinceMs);
  const [latest] = boxes;
  if (latest) return latest.name;
  throw new AgentBoxError(
    "agent.no_conversation",
    `No box of ${agent ?? "an agent"} on this directory has a conversation.`,
    { hint: "List the boxes with agentbox ls, and name one: --resume --name BOX" },
  );
}
