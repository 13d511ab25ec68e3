/** merge, undo, discard, export: how work leaves its box, or does not. */
import { resolve } from "node:path";
import { exitCodes } from "../../base/error-codes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Client } from "../../client/index.ts";
import type { MergeMode, MergeRecord } from "../../contract/review/merge.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { mayLose, restoreHint } from "../boxes/remove.ts";
import { lookAtWork, showingConflicts } from "../boxes/look-at-work.ts";
import { withProgress } from "../render/progress.ts";
import { plural } from "../render/table.ts";

const verbs: Readonly<Record<string, RunCommand>> = { merge, undo, discard, export: exportWork };

export const run: RunCommand = (context) => verbs[context.command.name]!(context);

async function merge(context: CommandContext): Promise<number> {
  const { args, screen } = context;
  const box = args.positionals[0]!;
  const client = await context.connect();
  const looked = await lookAtWork(context, client, box, "merge");
  if (looked === undefined) return exitCodes.refused;
  const message = args.text("message");
  const merged = await showingConflicts(screen, () =>
    withProgress(screen, "Merging", () =>
      client.mergeWork(box, {
        mode: (args.text("mode") ?? "squash") as MergeMode,
        ...looked,
        ...omitUndefined({ message }),
      }),
    ),
  );
  if (screen.isJson) screen.printJson({ merge: merged });
  else {
    screen.print(describe(merged));
    // Only a mounted workspace's commits go there.
    if (merged.branch === `refs/heads/agentbox/${box}`)
      screen.note(
        `Your files have these changes already, uncommitted. While your branch has no new commits, take the box's over with: git reset agentbox/${box}`,
      );
  }
  return 0;
}

const describe = ({ id, mode, branch, after, files, box }: MergeRecord): string =>
  `${mode === "patch" ? `Changed ${plural(files, "file")}` : `Merged ${plural(files, "file")} into ${(branch ?? "HEAD").replace(/^refs\/heads\//, "")} (${after.slice(0, 12)})`} from ${box}; undo it with: agentbox undo (merge ${id})`;

async function undo({ args, screen, connect, cwd }: CommandContext): Promise<number> {
  const client = await connect();
  const box = args.positionals[0];
  const undone = await client.undoMerge(
    box === undefined ? { projectDir: await projectOf(client, cwd) } : { box },
  );
  if (screen.isJson) screen.printJson({ merge: undone });
  else screen.print(`Undid merge ${undone.id} of ${undone.box}.`);
  return 0;
}

/** The project of the latest merge at or above the directory the person is in. */
async function projectOf(client: Client, cwd: string): Promise<string> {
  const { events } = await client.listEvents({ type: "work.merged", limit: 200, order: "newest" });
  const dirs = await Promise.all(
    [...new Set(events.map(({ box }) => box))].map(async (box) => {
      const found = box === undefined ? undefined : await client.getBox(box).catch(() => undefined);
      return found?.box.projectDir;
    }),
  );
  return dirs.find((dir) => dir !== undefined && (cwd === dir || cwd.startsWith(`${dir}/`))) ?? cwd;
}

async function discard({ args, screen, connect }: CommandContext): Promise<number> {
  const box = args.positionals[0]!;
  const client = await connect();
  if (!args.isSet("yes") && !args.isSet("force")) {
    const work = await client.readUnmerged(box);
    const asking = { question: `Remove ${box}?`, force: `agentbox discard ${box} --force` };
    if (!(await mayLose(screen, [{ name: box, ...work }], asking))) return exitCodes.refused;
  }
  const { removed } = await client.discardWork(box);
  if (screen.isJson) screen.printJson({ box, removed });
  else screen.print(`discarded ${box}${restoreHint(removed, Date.now())}`);
  return 0;
}

async function exportWork({ args, screen, connect, cwd }: CommandContext): Promise<number> {
  const box = args.positionals[0]!;
  const [patch, bundle] = [args.text("patch"), args.text("bundle")];
  if ((patch === undefined) === (bundle === undefined)) {
    throw new AgentBoxError("input.invalid", "Say what to write: a patch or a bundle.", {
      hint: `Write: agentbox export ${box} --patch work.patch`,
    });
  }
  const file = resolve(cwd, (patch ?? bundle)!);
  const client = await connect();
  await client.exportWork(box, { format: patch === undefined ? "bundle" : "patch", file });
  if (screen.isJson) screen.printJson({ box, file });
  else screen.print(`wrote ${file}`);
  return 0;
}
