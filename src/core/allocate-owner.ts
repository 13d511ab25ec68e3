import { AgentBoxError } from "../base/errors.ts";
import type { Box, BoxOwner } from "../contract/box.ts";
import type { Owners } from "./context.ts";

/**
 * SECURITY: under root every box has a user of its own, so that one box can neither signal, trace nor read another
 * even if it left its namespaces. A user is not used again while a box has it.
 */
export function allocateOwner(owners: Owners, boxes: readonly Box[]): BoxOwner {
  if (owners.kind === "self") return owners.owner;
  const taken = new Set(boxes.map((box) => box.owner.uid));
  for (let uid = owners.firstUid; uid < owners.firstUid + owners.count; uid++) {
    if (!taken.has(uid)) return { uid, gid: uid };
  }
  throw new AgentBoxError("box.limit_reached", `All ${owners.count} users for boxes are taken.`, {
    hint: "Remove boxes you no longer need: agentbox prune",
  });
}
