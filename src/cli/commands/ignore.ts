import { printable } from "../../base/printable.ts";
import type { RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";

/** Adds a directory that the review asks about to the work's .gitignore. */
export const run: RunCommand = async ({ args, screen, connect }) => {
  const [box, given] = args.positionals as [string, string];
  const path = given.replace(/\/+$/, "");
  const client = await connect();
  await withProgress(screen, "Looking at the work", () => client.ignoreDirectory(box, { path }));
  if (screen.isJson) screen.printJson({ box, ignored: path });
  else
    screen.print(
      `${printable(path)} is in .gitignore now, and no part of the work; look again: agentbox diff ${box}`,
    );
  return 0;
};
