import type { RunCommand } from "../command.ts";
import { forEachBox } from "../boxes/for-each-box.ts";

export const run: RunCommand = async (context) => {
  const client = await context.connect();
  return forEachBox(context, async (name) => {
    await client.interruptAgent(name);
    return { data: { name }, text: `interrupted ${name}` };
  });
};
