import type { RunCommand } from "../command.ts";
import { runForeground } from "../../host/foreground.ts";
import { withProgress } from "../render/progress.ts";
import { renderDangers, renderReview } from "../render/review.ts";
import { LineSplitter } from "../../base/line-splitter.ts";
import { printable } from "../../base/printable.ts";

/** Dangers first, then the patch; with --stat only what has changed, and everything else that matters. */
export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const box = args.positionals[0]!;
  const query = { from: args.text("from"), to: args.text("to"), against: args.text("against") };
  const client = await context.connect();
  const review = await withProgress(screen, "Looking at the work", () => client.getReview(box, query));
  if (screen.isJson) {
    screen.printJson(review);
    return 0;
  }
  if (args.isSet("stat")) {
    screen.print(renderReview(review, screen.style));
    return 0;
  }
  const dangers = renderDangers(review.dangers, screen.style);
  if (dangers !== "") screen.note(`${dangers}\n`);
  const to =
    query.against !== undefined
      ? undefined
      : (query.to ?? (review.checkpoint === undefined ? undefined : String(review.checkpoint.number)));
  const patch = await client.patch(box, { ...query, to, path: args.positionals[1] });
  const tool = args.text("tool");
  if (tool !== undefined) return runForeground(["/bin/sh", "-c", tool], patch);
  await printPatch(context, patch);
  if (review.changes.length === 0) screen.note("Nothing has changed.");
  else
    screen.note(
      `\n${screen.errorStyle.dim("land it:")} agentbox merge ${box}   ${screen.errorStyle.dim("summary:")} agentbox diff ${box} --stat`,
    );
  return 0;
};

const longestLine = 1 << 20;

/** SECURITY: the patch is the agent's text: what could hide or reorder itself on a terminal is made visible first. */
async function printPatch(
  { screen }: Parameters<RunCommand>[0],
  patch: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { stdout } = screen.streams;
  if (!stdout.isTTY) {
    for await (const chunk of patch) stdout.write(chunk);
    return;
  }
  const lines = new LineSplitter(longestLine);
  const { green, red, cyan, bold } = screen.style;
  const paint = (line: string): string => {
    if (/^(\+\+\+|---|diff |index |new file|deleted file|similarity|rename )/.test(line)) return bold(line);
    if (line.startsWith("@@")) return cyan(line);
    if (line.startsWith("+")) return green(line);
    return line.startsWith("-") ? red(line) : line;
  };
  for await (const chunk of patch) {
    const shown = lines.push(chunk).map((line) => paint(printable(line)));
    if (shown.length > 0) stdout.write(`${shown.join("\n")}\n`);
  }
}
