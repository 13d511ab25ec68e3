import type { Screen } from "../render/screen.ts";
import { printable } from "../../base/printable.ts";
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

/**
 * The screen of a program's terminal, as the lines that a user would have seen. SECURITY: an emulator reads the
 * output, so nothing of it is a sequence for the person's own terminal.
 */
export async function showTerminalText(
  screen: Screen,
  chunks: AsyncIterable<Uint8Array>,
  size: { readonly cols: number; readonly rows: number },
): Promise<void> {
  const { default: headless } = await import("@xterm/headless");
  const terminal = new headless.Terminal({
    cols: size.cols,
    rows: size.rows,
    scrollback: 50_000,
    allowProposedApi: true,
  });
  for await (const chunk of chunks) await new Promise<void>((resolve) => terminal.write(chunk, resolve));
  const { normal, active } = terminal.buffer;
  const lines = [...linesOf(normal), ...(active.type === "alternate" ? linesOf(active) : [])];
  while (lines.at(-1) === "") lines.pop();
  for (const line of lines) screen.print(line);
  terminal.dispose();
}

interface Buffer {
  readonly length: number;
  getLine(at: number): { readonly isWrapped: boolean; translateToString(trim: boolean): string } | undefined;
}

/** A line that the terminal has wrapped is one line again. */
function linesOf(buffer: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < buffer.length; at += 1) {
    const line = buffer.getLine(at);
    const isCut = buffer.getLine(at + 1)?.isWrapped === true;
    const text = printable(line?.translateToString(!isCut) ?? "");
    if (line?.isWrapped && lines.length > 0) lines[lines.length - 1] += text;
    else lines.push(text);
  }
  return lines;
}
