import type { RunCommand } from "../command.ts";
import { showLog } from "../terminal/show-log.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const client = await connect();
  const chunks = await client.getLogs(args.positionals[0]!, {
    source: args.text("source") ?? "main",
    tail: args.integer("tail"),
    follow: args.isSet("follow"),
  });
  await showLog(screen, chunks);
  return 0;
};
