import type { RunCommand } from "../command.ts";
import { openBrowser } from "../open-browser.ts";

/** The link is as good as a password until it is opened, so it goes to standard output only. */
export const run: RunCommand = async ({ args, screen, connect }) => {
  const { url, expiresAtMs } = await (await connect()).openLink();
  if (screen.isJson) {
    screen.printJson({ url, expiresAtMs });
    return 0;
  }
  const isOpened = !args.isSet("print") && (await openBrowser(url));
  screen.print(url);
  if (isOpened) screen.note("Opened in your browser. The link works once.");
  else screen.note("Open it in a browser on this machine. It works once, within five minutes.");
  return 0;
};
