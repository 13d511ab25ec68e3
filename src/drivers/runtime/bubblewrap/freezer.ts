/** Stops a box through its control group, where it has one. */
import type { Freezer } from "../signal-freezer.ts";
import type { GroupFreezer } from "./limits/limiter.ts";

export const groupFreezer = (groups: GroupFreezer): Freezer => ({
  freeze: (name) => groups.freeze(name),
  thaw: (name) => groups.thaw(name),
  isFrozen: (name) => groups.isFrozen(name),
});
