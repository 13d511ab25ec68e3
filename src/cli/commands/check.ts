import { formatDuration } from "../../base/duration.ts";
import { printableLines } from "../../base/printable.ts";
import type { RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";

const shownLines = 20;

/** Runs the manifest's checks on the work in a fresh box. */
export const run: RunCommand = async ({ args, screen, connect }) => {
  const box = args.positionals[0]!;
  const client = await connect();
  const checks = await withProgress(screen, "Running the checks in a fresh box", () => client.runChecks(box));
  if (screen.isJson) screen.printJson({ checks });
  else {
    const { green, red, dim } = screen.style;
    for (const { name, status, durationMs, output } of checks) {
      const mark = status === "passed" ? green("✓") : red("✗");
      screen.print(`${mark} ${name} ${dim(`${status.replaceAll("_", " ")}, ${formatDuration(durationMs)}`)}`);
      if (status !== "passed") screen.print(printableLines(output).split("\n").slice(-shownLines).join("\n"));
    }
  }
  return checks.every(({ status }) => status === "passed") ? 0 : 1;
};
