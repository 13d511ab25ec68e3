import { AgentBoxError } from "../../base/errors.ts";
import type { Box, BoxOwner } from "../../contract/box.ts";
import type { Runtime } from "../../ports/runtime.ts";
import type { Owners } from "../context.ts";

/**
 * SECURITY: under root every box has a user of its own, so that one box can neither signal, trace nor read another
 * even if it left its namespaces. A user is not used again while a box has it.
 */
export function allocateOwner(
  owners: Owners,
  boxes: readonly Box[],
  runtime: Pick<Runtime, "name" | "owners">,
): BoxOwner {
  if (owners.kind === "self") return owners.owner;
  return takeFrom(runtime.owners?.() ?? owners, boxes);
}

function takeFrom(owners: { firstUid: number; count: number }, boxes: readonly Box[]): BoxOwner {
  const taken = new Set(boxes.map((box) => box.owner.uid));
  for (let uid = owners.firstUid; uid < owners.firstUid + owners.count; uid++) {
    if (!taken.has(uid)) return { uid, gid: uid };
  }
  throw new AgentBoxError("box.limit_reached", `All ${owners.count} users for boxes are taken.`, {
    hint: "Remove boxes you no longer need: agentbox prune",
  });
}

/** Files keep their owner when a box moves, so that a runtime that knows others inside could not run it. */
export function requireOwner({ name, owner }: Box, runtime: Pick<Runtime, "name" | "owners">): void {
  const range = runtime.owners?.();
  if (range === undefined || (owner.uid >= range.firstUid && owner.uid < range.firstUid + range.count))
    return;
  throw new AgentBoxError(
    "runtime.unsupported",
    `The box "${name}" cannot move: its files belong to user ${owner.uid}, whom the runtime "${runtime.name}" does not know inside.`,
    {
      hint: `Make a new box there: agentbox create --runtime ${runtime.name}`,
      facts: { box: name, owner: owner.uid },
    },
  );
}
