import { AgentBoxError } from "../../base/errors.ts";
import type { RunCommand } from "../command.ts";
import { getNamedBox } from "../named-box.ts";
import { openBrowser } from "../open-browser.ts";

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const { box, others } = getNamedBox(context, args.positionals, 1);
  const port = Number(others[0]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new AgentBoxError("input.invalid", `"${others[0]}" is not the number of a port.`, {
      hint: `See what listens: agentbox ports ${box}`,
    });
  }
  const preview = await (await context.connect()).openPreview(box, port);
  if (screen.isJson) {
    screen.printJson(preview);
    return 0;
  }
  const isOpened = !args.isSet("print") && (await openBrowser(preview.url));
  screen.print(preview.url);
  if (isOpened) screen.note("Opened in your browser. The address works once.");
  else screen.note("Open it in a browser on this machine. It works once, within five minutes.");
  return 0;
};
