import type { Box } from "../../contract/box.ts";
import type { BudgetLimit } from "../../contract/model/budget.ts";
import { type Meter, meterOf } from "./meter.ts";

/** A limit that holds for a box now. */
export interface HeldLimit {
  readonly limit: BudgetLimit;
  readonly meter: Meter;
  /** The box whose specification has it: the box itself, or one above it. */
  readonly holder: string;
}

/** Every limit that holds for a box: its own of all layers, and those of the trees it is part of. */
export async function limitsOf(
  box: Box,
  findBox: (name: string) => Promise<Box | undefined>,
  nowMs: number,
): Promise<readonly HeldLimit[]> {
  const above = await Promise.all(namesAbove(box.name).map(findBox));
  return [
    ...box.spec.budget.map((limit) => held(limit, box, nowMs)),
    ...above
      .filter((one) => one !== undefined)
      .flatMap((root) =>
        root.spec.budget.filter(({ scope }) => scope === "tree").map((limit) => held(limit, root, nowMs)),
      ),
  ];
}

const held = (limit: BudgetLimit, holder: Box, nowMs: number): HeldLimit => ({
  limit,
  meter: meterOf(limit, holder, nowMs),
  holder: holder.name,
});

/** `shop-web-api` is below `shop-web` and below `shop`. */
function namesAbove(name: string): string[] {
  const words = name.split("-");
  return words.slice(1).map((_, i) => words.slice(0, words.length - 1 - i).join("-"));
}
