import type { BoxLink, LinkStream } from "../../ports/link.ts";

export interface BoxCommand {
  readonly argv: string[];
  readonly env?: Record<string, string>;
  readonly timeoutMs: number;
  /** Without it the command's input is at its end from the start. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Takes stdout in place of `stdout`, one piece at a time: the box waits for the host. When it fails, the command ends. */
  readonly onStdout?: (chunk: Uint8Array) => Promise<void>;
}

export interface CommandEnd {
  /** Null when it did not end by itself, or could not be started. */
  readonly code: number | null;
  readonly timedOut: boolean;
  /** The end of what it printed, as texts. */
  readonly stdout: string;
  /** stdout and stderr in the order they came, and why it could not be started. */
  readonly output: string;
}

/** A command that prints a few lines; more than this is not for people. */
const keptCharacters = 64 * 1024;

/** Runs a command in a box for the host, to its end. The output comes from the box, and is bounded. */
export async function execInBox(link: BoxLink, command: BoxCommand): Promise<CommandEnd> {
  const { argv, env = {}, timeoutMs, input, onStdout } = command;
  const stream = await link.open({ kind: "exec", argv, env, timeoutMs });
  const [stdout, output] = [new TextTail(), new TextTail()];
  let end: Pick<CommandEnd, "code" | "timedOut"> = { code: null, timedOut: false };
  let failure: { readonly error: unknown } | undefined;
  let taking = Promise.resolve();
  stream.onMessage((message) => {
    if (message.type === "exit") end = message;
    else if (message.type === "failed") output.add(`\n${message.message}`);
  });
  stream.onData((chunk, channel) => {
    if (channel === 1 && onStdout) {
      stream.pause();
      taking = taking
        .then(() => onStdout(chunk))
        .then(
          () => stream.resume(),
          (error: unknown) => {
            failure ??= { error };
            stream.close();
          },
        );
      return;
    }
    if (channel === 1) stdout.push(chunk);
    output.push(chunk);
  });
  const closed = new Promise<void>((resolve) => stream.onClose(() => resolve()));
  if (input) await Promise.race([pour(stream, input), closed]);
  else stream.endInput();
  await closed;
  await taking;
  if (failure) throw failure.error;
  return { code: end.code, timedOut: end.timedOut, stdout: stdout.text, output: output.text };
}

/** The last line is where programs say why. */
export const lastLine = (output: string): string => output.trim().split("\n").at(-1) ?? "";

async function pour(stream: LinkStream, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  let drained = (): void => undefined;
  stream.onDrain(() => drained());
  for await (const chunk of chunks) {
    if (stream.write(chunk)) continue;
    await new Promise<void>((resolve) => (drained = resolve));
  }
  stream.endInput();
}

class TextTail {
  text = "";
  readonly #decoder = new TextDecoder();

  push(chunk: Uint8Array): void {
    this.add(this.#decoder.decode(chunk, { stream: true }));
  }

  add(text: string): void {
    this.text = (this.text + text).slice(-keptCharacters);
  }
}
