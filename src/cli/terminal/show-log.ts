import type { Screen } from "../render/screen.ts";
import { PlainLines } from "./plain-lines.ts";

/** Recorded output: programs get every byte; a person's terminal gets what is safe to show. */
export async function showLog(screen: Screen, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const { stdout } = screen.streams;
  const plain = stdout.isTTY ? new PlainLines() : undefined;
  const write = async (piece: Uint8Array | string) => {
    if (piece.length > 0 && !stdout.write(piece))
      await new Promise((resolve) => stdout.once("drain", resolve));
  };
  for await (const chunk of chunks) await write(plain ? plain.push(chunk) : chunk);
  if (plain) await write(`${plain.end()}\u001b[0m`);
}
