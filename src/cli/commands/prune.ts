import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { canAsk, unmergedLines } from "../boxes/remove.ts";
import { askYesNo } from "../render/ask.ts";
import { withProgress } from "../render/progress.ts";
import { plural } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const client = await context.connect();
  return context.args.isSet("removed") ? forgetRemoved(context, client) : pruneBoxes(context, client);
};

async function pruneBoxes({ args, screen }: CommandContext, client: Client): Promise<number> {
  const olderThanMs = args.durationMs("older-than") ?? 0;
  const isDryRun = args.isSet("dry-run");
  let force = args.isSet("force");
  if (isDryRun || (!force && !args.isSet("yes"))) {
    const plan = await withProgress(screen, "Looking at stopped boxes", () =>
      client.prune({ olderThanMs, isDryRun: true, force }),
    );
    if (isDryRun && screen.isJson) return (screen.printJson(plan), 0);
    const { removed, unmerged } = plan;
    const names = [...new Set([...removed, ...unmerged.map(({ name }) => name)])];
    if (names.length === 0) screen.print("Nothing to remove.");
    if (isDryRun && removed.length > 0)
      screen.print(`Would remove ${plural(removed.length, "box", "boxes")}: ${removed.join(", ")}`);
    if (unmerged.length > 0) screen.print(`Unmerged work:\n${unmergedLines(unmerged)}`);
    if (isDryRun || names.length === 0) return 0;
    if (!canAsk(screen)) throw nobodyToAsk();
    const question = `Remove ${plural(names.length, "box", "boxes")}: ${names.join(", ")}?`;
    if (!(await askYesNo(screen, question))) return 0;
    force = true;
  }
  const { removed, unmerged, freedBytes } = await withProgress(screen, "Removing stopped boxes", () =>
    client.prune({ olderThanMs, force }),
  );
  if (screen.isJson) screen.printJson({ removed, unmerged, freedBytes });
  else {
    screen.print(`Removed ${plural(removed.length, "box", "boxes")}, freed ${formatBytes(freedBytes)}.`);
    const left = unmerged.filter(({ name }) => !removed.includes(name));
    if (left.length > 0) {
      const count = plural(left.length, "box", "boxes");
      screen.note(`Kept ${count} with unmerged work:\n${unmergedLines(left)}`);
      screen.note("Remove them, too: agentbox prune --force");
    }
  }
  return 0;
}

/** The work of boxes that are gone already: this cannot be taken back. */
async function forgetRemoved({ args, screen }: CommandContext, client: Client): Promise<number> {
  const removed = await client.listRemoved();
  const names = removed.map(({ name }) => name);
  const count = plural(removed.length, "removed box", "removed boxes");
  const isAgreed = args.isSet("force") || args.isSet("yes");
  if (args.isSet("dry-run")) {
    if (screen.isJson) screen.printJson({ removed });
    else screen.print(removed.length === 0 ? "Nothing is kept." : `Would forget ${names.join(", ")}`);
    return 0;
  }
  if (removed.length > 0 && !isAgreed) {
    if (!canAsk(screen)) throw nobodyToAsk();
    if (!(await askYesNo(screen, `Delete the work of ${count} for good: ${names.join(", ")}?`))) return 0;
  }
  for (const { id } of removed) await client.forgetRemoved(id);
  if (screen.isJson) screen.printJson({ forgotten: names });
  else screen.print(`Forgot ${count}.`);
  return 0;
}

const nobodyToAsk = (): AgentBoxError =>
  new AgentBoxError("input.invalid", "Nothing was removed, because there is no terminal to ask at.", {
    hint: "Add --yes; with --force, boxes with unmerged work go, too.",
  });
