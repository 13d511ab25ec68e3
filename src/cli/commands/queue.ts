import { AgentBoxError } from "../../base/errors.ts";
import { exitCodes } from "../../base/error-codes.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Client } from "../../client/index.ts";
import type { QueueAnswer, QueueTotal } from "../../contract/api/schemas/queue.ts";
import { isOver } from "../../contract/queue.ts";
import { followBoxes } from "../boxes/follow-boxes.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { parseNumber } from "../new-box/box-request.ts";
import { boxInput, planSound } from "../new-box/create-box.ts";
import { over } from "../new-box/set-flag.ts";
import { type TypedTask, readTasks } from "../queue/read-tasks.ts";
import { renderQueue, renderSummary } from "../render/queue.ts";

type Verb = (context: CommandContext, words: readonly string[]) => Promise<number>;

const verbs: Readonly<Record<string, Verb>> = {
  ls: async (context) => show(context, await (await context.connect()).listQueue()),
  add,
  pause: (context) => change(context, true),
  resume: (context) => change(context, false),
  rm: async (context, words) =>
    show(context, await (await context.connect()).removeQueued({ ids: numbers("rm", words) })),
  retry: async (context, words) =>
    show(context, await (await context.connect()).retryQueued({ ids: numbers("retry", words) })),
  move,
  wait,
};

/** A first word that is no verb is a task. */
export const run: RunCommand = async (context) => {
  const [verb = "ls", ...words] = context.args.positionals;
  const action = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (action === undefined)
    return addTasks(
      context,
      context.args.positionals.map((task) => ({ task })),
    );
  const { args } = context;
  const isSettingOnly =
    verb === "ls" && ["at-once", "total-usd", "total-tokens"].some((flag) => args.isSet(flag));
  return isSettingOnly ? change(context, undefined) : action(context, words);
};

async function add(context: CommandContext, [path, ...more]: readonly string[]): Promise<number> {
  if (path === undefined || more.length > 0)
    throw new AgentBoxError("input.invalid", "Which file? agentbox queue add FILE", {
      hint: 'Give one file with a task a line, - for the input, or the tasks themselves: agentbox queue "fix the tests"',
    });
  return addTasks(context, await readTasks(path, process.stdin));
}

/** All tasks are planned before one is added, and what can be solved on the way is solved. */
async function addTasks(context: CommandContext, typed: readonly TypedTask[]): Promise<number> {
  const { args, screen } = context;
  const client = await context.connect();
  const timeoutMs = args.durationMs("timeout");
  const { projectDir, manifest, variables, trust, flags = {} } = await boxInput(context, {});
  const tasks = typed.map((one) => ({
    ...omitUndefined({ timeoutMs }),
    ...one,
    flags: over(flags, one.flags ?? {}) as Record<string, unknown>,
  }));
  const shared = omitUndefined({ projectDir, manifest, variables, trust });
  const kinds = new Map(tasks.map((one) => [JSON.stringify(one.flags), one]));
  for (const { task, flags: own } of kinds.values())
    await planSound(context, client, { ...shared, flags: own, run: { mode: "headless", task } });
  const atOnce = args.integer("at-once");
  const total = totalIn(context);
  // Before the first of them starts.
  if (total !== undefined) await client.changeQueue({ total });
  const answer = await client.addToQueue({ ...shared, tasks, ...omitUndefined({ atOnce }) });
  if (screen.isJson) screen.printJson(answer);
  else {
    const open = answer.tasks.filter((task) => task.isYours && !isOver(task)).length;
    screen.print(`Added ${tasks.length === 1 ? "1 task" : `${tasks.length} tasks`}; ${open} in the queue.`);
    screen.note("watch: agentbox queue ls --watch   wait: agentbox queue wait");
  }
  return 0;
}

/** 0 is no limit any more. */
function totalIn({ args }: Pick<CommandContext, "args">): QueueTotal | undefined {
  if (!args.isSet("total-usd") && !args.isSet("total-tokens")) return undefined;
  const [tokens, usd] = [args.integer("total-tokens"), parseNumber(args, "total-usd")];
  return { ...(tokens ? { tokens } : {}), ...(usd ? { usd } : {}) };
}

async function change(context: CommandContext, isPaused: boolean | undefined): Promise<number> {
  const { args, screen, connect } = context;
  const atOnce = args.integer("at-once");
  const total = totalIn(context);
  const answer = await (await connect()).changeQueue(omitUndefined({ isPaused, atOnce, total }));
  if (screen.isJson) screen.printJson(answer);
  else screen.print(renderSummary(answer));
  return 0;
}

async function move({ args, screen, connect }: CommandContext, words: readonly string[]): Promise<number> {
  const [id] = numbers("move", words);
  const before = args.integer("before");
  const answer = await (await connect()).moveQueued({ id: id!, ...omitUndefined({ before }) });
  return print(screen, answer);
}

async function show(context: CommandContext, answer: QueueAnswer): Promise<number> {
  const { args, screen } = context;
  if (!args.isSet("watch")) return print(screen, answer);
  const client = await context.connect();
  for await (const _news of followBoxes(client)) {
    const now = await client.listQueue();
    if (screen.isJson) screen.printJsonLine(now);
    else {
      if (screen.streams.stdout.isTTY) screen.streams.stdout.write("\u{1b}[H\u{1b}[2J");
      screen.print(renderQueue(now, Date.now()));
    }
  }
  return 0;
}

function print(screen: CommandContext["screen"], answer: QueueAnswer): number {
  if (screen.isJson) screen.printJson(answer);
  else screen.print(renderQueue(answer, Date.now()));
  return 0;
}

/** Until nothing of one's own waits or runs; then what there is to look at. */
async function wait(context: CommandContext): Promise<number> {
  const { screen } = context;
  const client = await context.connect();
  const answer = await drained(client);
  const own = { ...answer, tasks: answer.tasks.filter(({ isYours }) => isYours) };
  if (screen.isJson) screen.printJson(own);
  else screen.print(renderQueue(own, Date.now()));
  const isGood = own.tasks.every(({ state, verdict }) => state === "ended" && verdict === "done");
  return isGood ? 0 : exitCodes.failed;
}

async function drained(client: Client): Promise<QueueAnswer> {
  for await (const _news of followBoxes(client)) {
    const answer = await client.listQueue();
    const open = answer.tasks.filter((task) => task.isYours && !isOver(task) && task.state !== "held");
    const isStuck = answer.settings.isPaused && open.every(({ state }) => state === "waiting");
    if (open.length === 0 || isStuck) return answer;
  }
  return client.listQueue();
}

function numbers(verb: string, words: readonly string[]): number[] {
  const ids = words.map(Number);
  if (ids.length > 0 && ids.every((id) => Number.isSafeInteger(id) && id > 0)) return ids;
  throw new AgentBoxError("input.invalid", `Which task? agentbox queue ${verb} ID`, {
    hint: "The numbers are in: agentbox queue ls",
  });
}
