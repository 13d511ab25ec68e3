import { isAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Client } from "../../client/index.ts";
import type { Review } from "../../contract/review/review.ts";
import type { RunCommand } from "../command.ts";
import { runForeground } from "../../host/foreground.ts";
import { withProgress } from "../render/progress.ts";
import { renderDangers, renderHistory, renderReview } from "../render/review.ts";
import { LineSplitter } from "../../base/line-splitter.ts";
import { printable } from "../../base/printable.ts";

/** Dangers first, then the patch; with --stat only what has changed, and everything else that matters. */
export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const box = args.positionals[0]!;
  const query = { from: args.text("from"), to: args.text("to"), against: args.text("against") };
  const client = await context.connect();
  const review = await withProgress(screen, "Looking at the work", () =>
    client.checkpointAndReview(box, query),
  );
  if (screen.isJson) {
    screen.printJson(review);
    return 0;
  }
  if (args.isSet("stat")) {
    screen.print(renderReview(review, screen.style));
    await noteLook(context, client, review);
    return 0;
  }
  const dangers = renderDangers(review.dangers, screen.style);
  if (dangers !== "") screen.note(`${dangers}\n`);
  const history = renderHistory(review.history, screen.errorStyle);
  if (history !== "") screen.note(`${history}\n`);
  const to =
    query.against !== undefined
      ? undefined
      : (query.to ?? (review.checkpoint === undefined ? undefined : String(review.checkpoint.number)));
  const patch = await client.getPatch(box, { ...query, to, path: args.positionals[1] });
  const tool = args.text("tool");
  if (tool !== undefined) {
    const code = await runForeground(["/bin/sh", "-c", tool], patch);
    if (code === 0) await noteLook(context, client, review);
    return code;
  }
  await printPatch(context, patch);
  await noteLook(context, client, review);
  if (review.changes.length === 0) screen.note("Nothing has changed.");
  else
    screen.note(
      `\n${screen.errorStyle.dim("land it:")} agentbox merge ${box}   ${screen.errorStyle.dim("summary:")} agentbox diff ${box} --stat`,
    );
  return 0;
};

/**
 * The next merge of this person lands what they saw here. SECURITY: only where all of the work was shown, and never with
 * --json, which programs read in the background: they would move what the person has seen to a later state.
 */
async function noteLook(
  { args }: Parameters<RunCommand>[0],
  client: Client,
  { box, digest, changes }: Review,
): Promise<void> {
  const [from, to] = [args.text("from"), args.text("to")];
  const isPart = args.positionals[1] !== undefined || args.text("against") !== undefined;
  if (changes.length === 0 || isPart || (to !== undefined && to !== "latest")) return;
  try {
    await client.noteLook(box, { digest, ...omitUndefined({ since: from }) });
  } catch (error) {
    // A person who may only look at the box cannot merge it either.
    if (!isAgentBoxError(error, "access.forbidden")) throw error;
  }
}

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
