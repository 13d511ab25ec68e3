import type { Client } from "../../client/index.ts";
import type { ExecRequestInput } from "../../contract/api/schemas.ts";
import type { Screen } from "../render/screen.ts";
import { ringOnQuestions } from "./bell.ts";
import { type Ending, passInput, showOutput, waitForEnding } from "./conversation.ts";
import { openRawTerminal } from "./raw-terminal.ts";
import { forwardSignals } from "./signals.ts";

export interface CommandRequest extends Omit<ExecRequestInput, "terminal" | "stdin"> {
  readonly wantsTerminal: boolean;
  readonly wantsInput: boolean;
}

/** Runs a command in a box with this process's stdin, stdout and stderr. */
export async function runCommand(
  client: Client,
  box: string,
  screen: Screen,
  request: CommandRequest,
): Promise<Ending> {
  const { wantsTerminal, wantsInput, ...exec } = request;
  const stream = await client.exec(box, {
    ...exec,
    stdin: wantsInput,
    ...(wantsTerminal ? { terminal: screen.size } : {}),
  });
  const ending = waitForEnding(stream, { awaitsVerdict: request.afterMain !== undefined });
  using _signals = forwardSignals(stream);
  try {
    if (wantsTerminal && screen.streams.stdin.isTTY) {
      using terminal = openRawTerminal(screen);
      using _bell = ringOnQuestions(client, screen, box);
      using _shown = showOutput(stream, screen, terminal.guard);
      if (wantsInput) terminal.onTyped((typed) => void stream.sendData(typed));
      terminal.onResize((size) => stream.sendText(JSON.stringify({ type: "resize", ...size })));
      return await ending;
    }
    using _shown = showOutput(stream, screen);
    using _input = wantsInput ? passInput(stream, screen.streams.stdin) : undefined;
    return await ending;
  } finally {
    stream.close();
  }
}
