import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { askYesNo } from "../render/ask.ts";
import type { RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { plural } from "../render/table.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const client = await connect();
  const olderThanMs = args.durationMs("older-than") ?? 0;
  const isDryRun = args.isSet("dry-run");
  if (!args.isSet("yes") || isDryRun) {
    const plan = await client.prune({ olderThanMs, isDryRun: true });
    if (isDryRun && screen.isJson) screen.printJson(plan);
    else if (plan.removed.length === 0) screen.print("Nothing to remove.");
    else
      screen.print(`Would remove ${plural(plan.removed.length, "box", "boxes")}: ${plan.removed.join(", ")}`);
    if (isDryRun || plan.removed.length === 0) return 0;
    if (!screen.isInteractive) {
      throw new AgentBoxError("input.invalid", "Nothing was removed, because nobody could be asked.", {
        hint: "Add --yes.",
      });
    }
    if (!(await askYesNo(screen, "Remove them and all their files?"))) return 0;
  }
  const { removed, freedBytes } = await withProgress(screen, "Removing stopped boxes", () =>
    client.prune({ olderThanMs }),
  );
  if (screen.isJson) screen.printJson({ removed, freedBytes });
  else screen.print(`Removed ${plural(removed.length, "box", "boxes")}, freed ${formatBytes(freedBytes)}.`);
  return 0;
};
