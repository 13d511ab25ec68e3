import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import { planAll } from "../../../src/client/plan-problems.ts";
import type { CreateBoxInput } from "../../../src/contract/api/schemas.ts";
import type { QueueAnswer } from "../../../src/contract/api/schemas/queue.ts";
import { client } from "../api/client.ts";
import { type Report, solve } from "./solving.ts";

/** Adds tasks that are boxes like this one; what is missing, such as an agent, is installed first. */
export async function addToQueue(
  { name, projectDir, manifest, flags = {}, trust }: CreateBoxInput,
  tasks: readonly string[],
  report: Report,
  signal: AbortSignal,
): Promise<QueueAnswer> {
  const shared = omitUndefined({ projectDir, manifest, trust });
  const [task = ""] = tasks;
  const planned = await planAll(client, [{ ...shared, flags, run: { mode: "headless", task } }]);
  for (const one of planned) await solve(one, report, signal);
  return client.addToQueue({
    ...shared,
    tasks: tasks.map((one) => ({ task: one, flags, ...omitUndefined({ name }) })),
  });
}
