import type { RunCommand } from "../command.ts";
import { PlainLines } from "../terminal/plain-lines.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const client = await connect();
  const { stdout } = screen.streams;
  const chunks = await client.logs(args.positionals[0]!, {
    source: args.text("source") ?? "main",
    tail: args.integer("tail"),
    follow: args.isSet("follow"),
  });
  // Programs get every byte; a person's terminal gets what is safe to show.
  const plain = stdout.isTTY ? new PlainLines() : undefined;
  const write = async (piece: Uint8Array | string) => {
    if (piece.length > 0 && !stdout.write(piece))
      await new Promise((resolve) => stdout.once("drain", resolve));
  };
  for await (const chunk of chunks) await write(plain ? plain.push(chunk) : chunk);
  if (plain) await write(`${plain.end()}\u001b[0m`);
  return 0;
};
