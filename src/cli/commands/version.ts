import { version } from "../../base/version.ts";
import type { RunCommand } from "../command.ts";

export const run: RunCommand = async ({ screen }) => {
  if (screen.isJson) screen.printJson({ version, node: process.version });
  else screen.print(`agentbox ${version}`);
  return 0;
};
