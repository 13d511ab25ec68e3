import type { RunCommand } from "../command.ts";
import { forEachBox } from "../boxes/for-each-box.ts";
import { withProgress } from "../render/progress.ts";

export const run: RunCommand = async (context) => {
  const client = await context.connect();
  const force = context.args.isSet("force");
  return forEachBox(context, (name) =>
    withProgress(context.screen, `Removing ${name}`, async () => {
      await client.removeBox(name, { force });
      return { data: { name }, text: `removed ${name}` };
    }),
  );
};
