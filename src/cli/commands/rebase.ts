import { printable } from "../../base/printable.ts";
import { watchRun } from "../boxes/watch-run.ts";
import type { RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { plural } from "../render/table.ts";

/** Brings the newest commits of your branch into the box, and has its agent rebase onto them. */
export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const name = args.positionals[0]!;
  const client = await context.connect();
  const { lastId } = await client.listEvents({ limit: 1, order: "newest" });
  const rebased = await withProgress(screen, "Bringing your branch into the box", () =>
    client.rebaseWork(name),
  );
  const { box, branch, commit, commits, isSent } = rebased;
  const isWatched = isSent && box.run?.mode === "headless" && !args.isSet("detach");
  // With --json the events of the run are the answer, as those of "send" are.
  if (screen.isJson && !isWatched) screen.printJson(rebased);
  const where = `${branch === undefined ? "" : `${printable(branch)} `}(${commit.slice(0, 12)})`.trim();
  if (!screen.isJson)
    screen.note(
      `Brought ${plural(commits, "commit")} of ${where} into ${name} as refs/agentbox/upstream.${
        isSent ? " The agent rebases its work onto it." : ` Rebase there: agentbox exec ${name}`
      }`,
    );
  return isWatched ? watchRun(context, client, box, lastId) : 0;
};
