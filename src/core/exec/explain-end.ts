import { formatDuration } from "../../base/duration.ts";
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { Using } from "../using.ts";

/** Why a stream of a box broke off, where the box itself has ended: the connection is only where it shows. */
export async function explainEnd(
  core: Using<"store">,
  box: Pick<Box, "name" | "incarnation">,
  error: Error,
): Promise<Error> {
  if (!isAgentBoxError(error, "box.unreachable")) return error;
  const now = await core.ports.store.findBox(box.name);
  if (now?.incarnation !== box.incarnation || now.state.phase === "removing")
    return ended(box.name, "removed");
  const { state, spec } = now;
  if (state.phase !== "stopping" && state.phase !== "stopped") return error;
  const { ttlMs, idleMs } = spec.lifecycle;
  if (state.reason === "ttl")
    return expired(box.name, `its time to live (${formatDuration(ttlMs)})`, "--ttl");
  if (state.reason === "idle" && idleMs !== undefined)
    return expired(box.name, `its limit for idling (${formatDuration(idleMs)})`, "--idle");
  return ended(box.name, "stopped");
}

const expired = (name: string, limit: string, flag: string): AgentBoxError =>
  new AgentBoxError(
    "box.expired",
    `The box "${name}" reached ${limit} and was stopped, with what ran in it.`,
    {
      hint: `Its files are there: agentbox start ${name}. A new box lives longer with ${flag} 8h.`,
    },
  );

const ended = (name: string, how: "stopped" | "removed"): AgentBoxError =>
  new AgentBoxError("box.ended", `The box "${name}" was ${how} while this ran in it.`, {
    hint: how === "stopped" ? `Start it again: agentbox start ${name}` : "List the boxes: agentbox ls",
  });
