import { AgentBoxError } from "../../base/errors.ts";
import type { Using } from "../using.ts";

/** Removes a version of an agent, or all of them. One that a box was made with stays: the box could not start again. */
export async function removeAgent(
  core: Using<"note" | "store" | "toolStore">,
  agent: string,
  version: string | undefined,
): Promise<string[]> {
  const { toolStore, store } = core.ports;
  const installed = (await toolStore.list())
    .filter((tool) => tool.agent === agent)
    .map((tool) => tool.version);
  const removed = [...new Set(installed)].filter((one) => version === undefined || one === version);
  if (removed.length === 0) {
    throw new AgentBoxError(
      "tool.not_installed",
      `The agent "${agent.slice(0, 64)}"${version === undefined ? "" : ` ${version}`} is not installed.`,
      { hint: "List what is installed: agentbox agents ls", facts: { agent: agent.slice(0, 64), version } },
    );
  }
  const users = (await store.listBoxes()).filter(
    ({ spec }) => spec.agent.name === agent && removed.includes(spec.agent.version ?? ""),
  );
  if (users.length > 0) {
    const names = users.map(({ name }) => name);
    throw new AgentBoxError(
      "tool.in_use",
      `Boxes use this version of ${agent}: ${names.slice(0, 5).join(", ")}.`,
      {
        hint: `Remove them first: agentbox rm ${names[0]}`,
        facts: { agent, boxes: names },
      },
    );
  }
  const pinned = await toolStore.pinned(agent);
  // The pin first: it must never name what is not there.
  if (pinned !== undefined && removed.includes(pinned)) await toolStore.pin(agent, undefined);
  for (const one of removed) {
    await toolStore.remove(agent, one);
    await core.note("tool.removed", undefined, { agent, version: one });
  }
  return removed;
}
