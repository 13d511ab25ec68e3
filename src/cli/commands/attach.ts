import type { RunCommand } from "../command.ts";
import { showEntered, showLeft } from "../render/notes.ts";
import { attachSession } from "../terminal/attach-session.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const box = args.positionals[0]!;
  const session = args.text("session") ?? "main";
  const client = await connect();
  if (screen.isInteractive) showEntered(screen, box);
  const outcome = await attachSession(client, screen, {
    box,
    session,
    readOnly: args.isSet("read-only"),
    isNew: false,
  });
  if (outcome.kind === "ended") return outcome.exitCode;
  await showLeft(screen, client, box);
  return 0;
};
