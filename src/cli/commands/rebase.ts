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
  if (screen.isJson) {
    screen.printJson(rebased);
    return 0;
  }
  const where = `${branch === undefined ? "" : `${printable(branch)} `}(${commit.slice(0, 12)})`.trim();
  screen.note(
    `Brought ${plural(commits, "commit")} of ${where} into ${name} as refs/agentbox/upstream.${
      isSent ? " The agent rebases its work onto it." : ` Rebase there: agentbox exec ${name}`
    }`,
  );
  return isSent && box.run?.mode === "headless" && !args.isSet("detach")
    ? watchRun(context, client, box, lastId)
    : 0;
};
