import type { RunCommand } from "../command.ts";

export const run: RunCommand = async ({ screen }) => {
  const { manifestJsonSchema } = await import("../../manifest/index.ts");
  screen.printJson(manifestJsonSchema());
  return 0;
};
