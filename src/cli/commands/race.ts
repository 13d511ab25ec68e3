/** The same task for several agents at once, each in a box of its own; then side by side. */
import { exitCodes } from "../../base/error-codes.ts";
import { formatDuration } from "../../base/duration.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { type Client, planAll } from "../../client/index.ts";
import type { Box } from "../../contract/box.ts";
import { planRunners } from "../../contract/race.ts";
import type { Review } from "../../contract/review/review.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { mayLose } from "../boxes/remove.ts";
import { boxInput, createBox, planSound } from "../new-box/create-box.ts";
import { withProgress } from "../render/progress.ts";
import { renderTable } from "../render/table.ts";
import { renderCost } from "../render/verdict.ts";

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const client = await context.connect();
  const picked = args.text("pick");
  if (picked !== undefined) return pick(context, client, picked);
  const task = args.text("task") ?? args.positionals.join(" ");
  if (task.trim() === "") {
    throw new AgentBoxError("input.invalid", "There is no task.", {
      hint: 'Write: agentbox race "fix the tests" --agents claude,codex',
    });
  }
  const boxes = await start(context, client, task);
  if (!screen.isJson) screen.note(`Racing: ${boxes.map(({ name }) => name).join(", ")}`);
  await withProgress(screen, `${boxes.length} agents at work`, () =>
    Promise.all(boxes.map((box) => ended(client, box))),
  );
  if (args.isSet("check")) for (const box of boxes) await client.runChecks(box.name).catch(() => undefined);
  const reviews = await Promise.all(boxes.map((box) => client.checkpointAndReview(box.name)));
  if (screen.isJson) screen.printJson({ results: reviews });
  else {
    screen.print(render(reviews));
    screen.note(`\nTake one and drop the rest: agentbox race --pick ${reviews[0]?.box ?? "BOX"}`);
  }
  return 0;
};

async function start(context: CommandContext, client: Client, task: string): Promise<Box[]> {
  const { args } = context;
  const agents = (args.text("agents") ?? "").split(",").filter(Boolean);
  const stem = args.text("name");
  const taken = (await client.listBoxes()).map(({ name }) => name);
  const runners = planRunners({ agents, count: args.integer("n") ?? 1, stem }, taken);
  await requireRunners(context, client, { agents, task });
  const boxes: Box[] = [];
  for (const { agent, box: name } of runners) {
    const created = await createBox(context, client, { ...racing(task), agent, name });
    boxes.push(created.box);
  }
  return boxes;
}

/**
 * All racers start or none: the plans of all are asked for first, and all their problems are told. What can be solved
 * on the way is solved before the first box is made.
 */
async function requireRunners(
  context: CommandContext,
  client: Client,
  { agents, task }: { readonly agents: readonly string[]; readonly task: string },
): Promise<void> {
  const inputs = await Promise.all(
    [...new Set(agents)].map((agent) => boxInput(context, { ...racing(task), agent })),
  );
  // `--name` is the beginning of every name, and not one of them.
  const planned = await planAll(
    client,
    inputs.map(({ name: _name, ...input }) => input),
  );
  // One after the other: a person is asked about trust once, for all.
  for (const { input, problems } of planned) if (problems.length > 0) await planSound(context, client, input);
}

const racing = (task: string) => ({ start: true, run: { mode: "headless" as const, task } });

async function ended(client: Client, { name, incarnation }: Box): Promise<void> {
  const isOver = async (): Promise<boolean> => (await client.getBox(name)).box.run?.verdict !== undefined;
  const { lastId } = await client.listEvents({ limit: 1, order: "newest" });
  if (await isOver()) return;
  const stop = new AbortController();
  for await (const event of client.followEvents(
    { box: name, type: "agent.ended", after: lastId },
    stop.signal,
  )) {
    if (event.incarnation === incarnation) return stop.abort();
  }
}

function render(reviews: readonly Review[]): string {
  return renderTable([
    ["BOX", "AGENT", "ENDED", "FILES", "LINES", "DANGERS", "CHECKS", "TOKENS", "COST", "TIME"],
    ...reviews.map(({ box, agent, totals, dangers, checks, requiredChecks, summary }) => {
      const { usage, costMicroUsd, unpriced, requests } = summary.usage;
      const passed = checks.filter(({ status }) => status === "passed").length;
      return [
        box,
        agent,
        summary.verdict?.replaceAll("_", " ") ?? "-",
        String(totals.files),
        `+${totals.added} -${totals.deleted}`,
        String(dangers.length),
        requiredChecks.length === 0 ? "-" : `${passed}/${requiredChecks.length}`,
        (usage.input + usage.output).toLocaleString("en-US"),
        renderCost(costMicroUsd, unpriced, requests),
        formatDuration(summary.durationMs),
      ];
    }),
  ]);
}

/** Keeps one box of a race and drops the others. Landing it is a step of its own, with its own look at the dangers. */
async function pick({ args, screen }: CommandContext, client: Client, winner: string): Promise<number> {
  const heat = /^(.+-\d+)-/.exec(winner)?.[1];
  const boxes = (await client.listBoxes()).map(({ name }) => name);
  if (heat === undefined || !boxes.includes(winner)) {
    throw new AgentBoxError("box.not_found", `"${winner}" is not in a race.`, {
      hint: "List the boxes: agentbox ls",
    });
  }
  const others = boxes.filter((name) => name !== winner && name.startsWith(`${heat}-`));
  if (!args.isSet("force")) {
    const works = await withProgress(screen, "Looking at the others", () =>
      Promise.all(others.map(async (name) => ({ name, ...(await client.readUnmerged(name)) }))),
    );
    const question = `Keep ${winner} and remove ${others.join(", ")}?`;
    const force = `agentbox race --pick ${winner} --force`;
    if (others.length > 0 && !(await mayLose(screen, works, { question, force }))) return exitCodes.refused;
  }
  for (const name of others) await client.discardWork(name);
  if (screen.isJson) screen.printJson({ kept: winner, discarded: others });
  else
    screen.print(
      `kept ${winner}, discarded ${others.join(", ") || "nothing"}; land it with: agentbox merge ${winner}`,
    );
  if (!screen.isJson && others.length > 0) screen.note(`Bring one back: agentbox restore ${others[0]}`);
  return 0;
}
