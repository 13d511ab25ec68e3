import type { RunCommand } from "../command.ts";
import { attachSession } from "../terminal/attach-session.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const box = args.positionals[0]!;
  const session = args.text("session") ?? "main";
  const outcome = await attachSession(await connect(), screen, {
    box,
    session,
    readOnly: args.isSet("read-only"),
    isNew: false,
  });
  if (outcome.kind === "ended") return outcome.exitCode;
  screen.note(`\nLeft ${box} running. Come back with: agentbox attach ${box}`);
  return 0;
};
