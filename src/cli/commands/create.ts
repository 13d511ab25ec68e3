import type { RunCommand } from "../command.ts";
import { createBox } from "../new-box/create-box.ts";
import { showWarnings } from "../render/notes.ts";

export const run: RunCommand = async (context) => {
  const { screen, args } = context;
  const client = await context.connect();
  const created = await createBox(context, client, { start: args.isSet("start") });
  if (screen.isJson) screen.printJson(created);
  else {
    screen.print(created.box.name);
    if (!args.isSet("quiet")) showWarnings(screen, created);
  }
  return 0;
};
