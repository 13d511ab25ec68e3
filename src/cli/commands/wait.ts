/** `wait BOX…`: until an agent is done, idle, needs a person, or its box has stopped. The exit code is the verdict. */
import { exitCodes } from "../../base/error-codes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import { verdictExitCodes } from "../../contract/agent-events.ts";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import { followBoxes } from "../boxes/follow-boxes.ts";
import type { CommandContext, RunCommand } from "../command.ts";

export const waitTargets = ["done", "idle", "needs-you", "stopped"] as const;
type WaitTarget = (typeof waitTargets)[number];

/** The awaited state has come, or cannot come any more. */
export interface Reached {
  readonly outcome: string;
  readonly exitCode: number;
}

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const target = waitTargets.find((known) => known === args.text("for")) ?? "done";
  const names = [...new Set(args.positionals)];
  const client = await context.connect();
  const reached = await withTimeout(context, { names, target }, () =>
    waitForAll(context, client, names, target),
  );
  if (screen.isJson)
    screen.printJson({ boxes: names.map((name) => ({ name, for: target, ...reached.get(name)! })) });
  return names.map((name) => reached.get(name)!.exitCode).find((code) => code !== 0) ?? 0;
};

async function waitForAll(
  { screen }: CommandContext,
  client: Client,
  names: readonly string[],
  target: WaitTarget,
): Promise<ReadonlyMap<string, Reached & { readonly why?: string }>> {
  const reached = new Map<string, Reached & { readonly why?: string }>();
  // The names are known to be boxes, or the command ends with what `inspect` would say.
  const born = new Map(
    await Promise.all(
      names.map(async (name) => [name, (await client.getBox(name)).box.createdAtMs] as const),
    ),
  );
  for await (const _news of followBoxes(client)) {
    const boxes = new Map((await client.listBoxes()).map((box) => [box.name, box]));
    for (const name of names) {
      if (reached.has(name)) continue;
      const box = boxes.get(name);
      const isSame = box !== undefined && box.createdAtMs === born.get(name);
      const end = isSame ? decideReached(box, target) : removed;
      if (end === undefined) continue;
      const why = isSame ? await findWhy(client, box) : undefined;
      reached.set(name, { ...end, ...omitUndefined({ why }) });
      if (!screen.isJson)
        screen.print(`${name}: ${end.outcome}${why === undefined ? "" : `: ${printable(why)}`}`);
    }
    if (reached.size === names.length) break;
  }
  return reached;
}

const removed: Reached = { outcome: "removed", exitCode: verdictExitCodes.interrupted };

/** Undefined: there is more to wait for. */
export function decideReached(box: BoxSummary, target: WaitTarget): Reached | undefined {
  const { phase, agentState, needs } = box;
  if (target === "needs-you" && needs.length > 0) return { outcome: "needs you", exitCode: 0 };
  const over = decideOver(box);
  if (target === "stopped") return isAtRest(box) ? (over ?? { outcome: "stopped", exitCode: 0 }) : undefined;
  if (over !== undefined) return over;
  const isIdle = phase === "running" && (agentState === "idle" || agentState === "waiting");
  if (target === "idle" && isIdle) return { outcome: agentState, exitCode: 0 };
  return undefined;
}

const isAtRest = ({ phase }: BoxSummary): boolean => phase === "stopped" || phase === "failed";

/** How it ended, if it has: the agent by its verdict, a box that only runs commands by its exit code. */
function decideOver(box: BoxSummary): Reached | undefined {
  const { phase, agentState, verdict, reason, exitCode, needs } = box;
  if (verdict !== undefined)
    return { outcome: verdict.replaceAll("_", " "), exitCode: verdictExitCodes[verdict] };
  if (phase === "running" && agentState === "done") return { outcome: "done", exitCode: 0 };
  // Frozen until a person raises it, who may be the one that waits here.
  if (phase === "paused" && needs.some(({ kind }) => kind === "budget"))
    return { outcome: "out of budget", exitCode: verdictExitCodes.out_of_budget };
  if (phase === "failed") return { outcome: "failed", exitCode: exitCodes.failed };
  // One that was never started has its end still before it.
  if (phase !== "stopped" || reason === "created") return undefined;
  return { outcome: "stopped", exitCode: exitCode ?? 0 };
}

/** A sentence: why the run ended so, or what the box needs. */
async function findWhy(client: Client, { name, needs }: BoxSummary): Promise<string | undefined> {
  const { run: agentRun } = (await client.getBox(name).catch(() => undefined))?.box ?? {};
  return agentRun?.why ?? needs[0]?.sentence;
}

async function withTimeout<T>(
  { args }: CommandContext,
  { names, target }: { readonly names: readonly string[]; readonly target: WaitTarget },
  wait: () => Promise<T>,
): Promise<T> {
  const timeoutMs = args.durationMs("timeout");
  if (timeoutMs === undefined) return wait();
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    const error = new AgentBoxError(
      "request.timed_out",
      `After ${args.text("timeout")}, still not ${target.replace("-", " ")}: ${names.join(", ")}.`,
      { hint: "See what they do: agentbox ls" },
    );
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  try {
    return await Promise.race([wait(), timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
