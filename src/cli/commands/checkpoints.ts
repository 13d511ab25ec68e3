import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { age, plural, renderTable } from "../render/table.ts";
import { formatBytes } from "../../base/bytes.ts";

/** `checkpoints BOX`, and with a flag: take one, restore one, make a box from one. */
export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const box = args.positionals[0]!;
  const client = await context.connect();
  const wanted = args.text("restore");
  if (wanted !== undefined) {
    const checkpoint = await withProgress(screen, `Restoring ${box}`, () =>
      client.restoreCheckpoint(box, { checkpoint: wanted }),
    );
    return say(context, { checkpoint }, `restored ${box} to ${wanted}`);
  }
  const fork = args.text("fork");
  if (fork !== undefined) {
    const made = await withProgress(screen, `Creating ${fork}`, () =>
      client.forkBox(box, {
        name: fork,
        ...omitUndefined({ checkpoint: args.positionals[1] }),
      }),
    );
    return say(context, made, `created ${made.box.name}; start it with: agentbox start ${made.box.name}`);
  }
  if (args.isSet("take") || args.isSet("as")) {
    const name = args.text("as");
    const checkpoint = await withProgress(screen, `Looking at ${box}`, () =>
      client.takeCheckpoint(box, omitUndefined({ name })),
    );
    return say(
      context,
      { checkpoint },
      checkpoint ? `checkpoint ${checkpoint.number}` : "nothing has changed yet",
    );
  }
  const checkpoints = await client.listCheckpoints(box);
  if (screen.isJson) screen.printJson({ checkpoints });
  else screen.print(render(checkpoints));
  return 0;
};

function say({ screen }: CommandContext, data: unknown, text: string): number {
  if (screen.isJson) screen.printJson(data);
  else screen.print(text);
  return 0;
}

function render(checkpoints: readonly Checkpoint[]): string {
  if (checkpoints.length === 0) return "No checkpoint yet: nothing has changed, or nothing was reviewed yet.";
  const now = Date.now();
  return renderTable([
    ["NUMBER", "NAME", "TAKEN", "WHY", "CHANGED", "LINES", "SIZE"],
    ...checkpoints.map(({ number, name, atMs, reason, totals, bytes }) => [
      String(number),
      name ?? "-",
      `${age(atMs, now)} ago`,
      reason,
      plural(totals.files, "file"),
      `+${totals.added} -${totals.deleted}`,
      formatBytes(bytes),
    ]),
  ]);
}
