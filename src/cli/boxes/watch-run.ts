/** Shows what an agent does until it has ended, and says how. */
import type { Client } from "../../client/index.ts";
import { type AgentEvent, type Verdict, verdictExitCodes } from "../../contract/agent-events.ts";
import type { Box } from "../../contract/box.ts";
import type { BudgetObstacle } from "../../contract/model/budget.ts";
import { obstacleSentence, raiseFlags } from "../../contract/model/budget-words.ts";
import type { BoxEvent } from "../../contract/events.ts";
import type { CommandContext } from "../command.ts";
import { renderAgentEvent } from "../render/agent-event.ts";
import type { Screen } from "../render/screen.ts";
import { listDeniedHosts } from "./denied-hosts.ts";
import { showDenied } from "../render/notes.ts";
import { renderNextSteps, renderVerdict } from "../render/verdict.ts";
import { isAgentBoxError } from "../../base/errors.ts";

/** Resolves to the exit code of the verdict. */
export async function watchRun(
  context: CommandContext,
  client: Client,
  box: Box,
  after: number,
): Promise<number> {
  const { screen, args } = context;
  const leaving = new AbortController();
  using _interrupt = onInterrupt(async (isSecond) => {
    if (isSecond) return leaving.abort();
    screen.note(`\nInterrupting ${box.name}. Press ctrl-c again to leave it running.`);
    await client.interruptAgent(box.name).catch(() => undefined);
  });
  if (screen.isJson) screen.printJsonLine({ kind: "box_started", box: box.name, agent: box.spec.agent.name });
  else if (!args.isSet("quiet"))
    screen.note(screen.errorStyle.dim(`${box.spec.agent.name} works in box ${box.name}`));
  let isExhausted = false;
  try {
    for await (const event of client.followEvents({ box: box.name, after }, leaving.signal)) {
      if (event.incarnation !== box.incarnation) continue;
      isExhausted ||= event.type === "budget.exhausted";
      // Without a person who could raise the budget, the caller is not kept waiting.
      if (isExhausted && event.type === "box.paused" && !screen.streams.stderr.isTTY)
        return await conclude(context, client, box, frozen);
      const verdict = show(context, event);
      if (verdict !== undefined) return await conclude(context, client, box, verdict);
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  }
  screen.note(`Left ${box.name} running. Look at it with: agentbox inspect ${box.name}`);
  return verdictExitCodes.interrupted;
}

const frozen: Ending = {
  verdict: "out_of_budget",
  why: "A budget is too small for the next request; the box is frozen and goes on when it is raised.",
};

interface Ending {
  readonly verdict: Verdict;
  readonly why: string;
}

/** The verdict, when this was the last event. */
function show({ screen }: CommandContext, event: BoxEvent): Ending | undefined {
  if (event.type === "agent.event") {
    const agentEvent = event.data as AgentEvent;
    if (screen.isJson) screen.printJsonLine({ atMs: event.atMs, ...agentEvent });
    else {
      const text = renderAgentEvent(agentEvent, screen.style);
      if (text !== undefined) screen.print(text);
    }
  } else if (event.type === "agent.ended") return event.data as unknown as Ending;
  else if (event.type === "box.removed") return { verdict: "interrupted", why: "Its box was removed." };
  else if (noteworthy.has(event.type) && screen.isJson) {
    screen.printJsonLine({ atMs: event.atMs, kind: event.type, ...event.data });
  } else if (noteworthy.has(event.type)) {
    screen.note(screen.errorStyle.yellow(describe(event)));
  }
  return undefined;
}

const noteworthy = new Set([
  "budget.warned",
  "budget.exhausted",
  "model.refused",
  "box.died",
  "egress.denied",
  "box.paused",
]);

function describe({ type, data, box }: BoxEvent): string {
  if (type === "budget.exhausted") {
    const obstacle = data as unknown as BudgetObstacle;
    const raise = `agentbox budget raise ${obstacle.holder ?? box} --scope ${obstacle.scope} ${raiseFlags(obstacle)}`;
    return `${obstacleSentence(obstacle)} Go on with: ${raise}`;
  }
  if (type === "egress.denied")
    return `refused: ${String(data["host"])} (agentbox policy explain --box ${box} ${String(data["host"])})`;
  const { message, reason, scope } = data as Record<string, string | undefined>;
  return `${type}: ${message ?? reason ?? scope ?? ""}`;
}

async function conclude(
  { screen, args }: CommandContext,
  client: Client,
  box: Box,
  ending: Ending,
): Promise<number> {
  const usage = await client.getUsage({ box: box.name, by: "model" });
  if (screen.isJson) {
    screen.printJsonLine({ kind: "ended", box: box.name, ...ending, usage: usage.totals });
  } else if (!args.isSet("quiet")) {
    for (const line of renderVerdict(ending, usage, screen.errorStyle)) screen.note(line);
    showDenied(screen, await listDeniedHosts(client, box.name).catch(() => []), box.name);
  }
  await settled(client, box.name);
  if (!screen.isJson && !args.isSet("quiet") && !args.isSet("rm"))
    await showNextSteps(screen, client, box, ending.verdict);
  return verdictExitCodes[ending.verdict];
}

async function showNextSteps(screen: Screen, client: Client, box: Box, verdict: Verdict): Promise<void> {
  const summary = (await client.listBoxes()).find(({ name }) => name === box.name);
  if (summary === undefined) return;
  // Work in the person's own directory is there already.
  const hasWork = (summary.changedFiles ?? 0) > 0 && box.spec.workspace.mode !== "mount";
  const { obstacle } = verdict === "out_of_budget" ? await client.getBudget(box.name) : {};
  screen.note(renderNextSteps(box.name, { hasWork, verdict, obstacle }, screen.errorStyle));
}

/** The box stops right after its agent; the command that removes it next must not find it still stopping. */
async function settled(client: Client, name: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      const { box } = await client.getBox(name);
      if (!["running", "stopping"].includes(box.state.phase)) return;
    } catch (error) {
      if (isAgentBoxError(error, "box.not_found")) return;
      throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function onInterrupt(act: (isSecond: boolean) => unknown): Disposable {
  let count = 0;
  const listener = (): void => void act((count += 1) > 1);
  process.on("SIGINT", listener);
  return { [Symbol.dispose]: () => void process.off("SIGINT", listener) };
}
