import { exitCodes } from "../../base/error-codes.ts";
import type { RunCommand } from "../command.ts";
import { forEachBox } from "../boxes/for-each-box.ts";
import { removeAsking, restoreHint } from "../boxes/remove.ts";

export const run: RunCommand = async (context) => {
  const client = await context.connect();
  const options = { force: context.args.isSet("force"), keep: !context.args.isSet("purge") };
  let isKept = false;
  const exitCode = await forEachBox(context, async (name) => {
    const answer = await removeAsking(context.screen, client, name, options);
    if (answer === undefined) {
      isKept = true;
      return { data: { name, isRemoved: false }, text: `kept ${name}` };
    }
    const { removed } = answer;
    return { data: { name, removed }, text: `removed ${name}${restoreHint(removed, Date.now())}` };
  });
  return exitCode === 0 && isKept ? exitCodes.refused : exitCode;
};
