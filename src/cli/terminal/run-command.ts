import type { Client, Stream } from "../../client/index.ts";
import type { ExecRequestInput } from "../../contract/api/schemas.ts";
import type { Screen } from "../render/screen.ts";
import { ringOnQuestions } from "./bell.ts";
import { type Ending, passInput, showOutput, waitForEnding } from "./conversation.ts";
import { DetachKeys } from "./detach-keys.ts";
import { openRawTerminal } from "./raw-terminal.ts";

const forwarded = { SIGINT: "INT", SIGTERM: "TERM", SIGHUP: "HUP" } as const;
const hungUp = { type: "exit", code: 0, signal: null, timedOut: false } as const;
const secondWithinMs = 2_000;
/** A box that is frozen, or whose supervisor is, hears nothing: the person who asked to end it is not kept waiting. */
const patienceMs = 5_000;

/**
 * Hands signals on to the command in the box. A second ctrl-c within two seconds ends it by force; a request to
 * terminate that the box does not follow ends the conversation itself.
 */
function forwardSignals(stream: Stream): Disposable {
  let lastInterrupt = -Infinity;
  let giveUp: NodeJS.Timeout | undefined;
  const send = (signal: string) => stream.sendText(JSON.stringify({ type: "signal", signal }));
  const listeners = Object.entries(forwarded).map(([name, signal]) => {
    const listener = () => {
      const now = performance.now();
      const isSecond = name === "SIGINT" && now - lastInterrupt < secondWithinMs;
      if (name === "SIGINT") lastInterrupt = now;
      send(isSecond ? "KILL" : signal);
      if (isSecond || name !== "SIGINT") giveUp ??= setTimeout(() => stream.close(), patienceMs);
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  return {
    [Symbol.dispose]() {
      clearTimeout(giveUp);
      for (const stop of listeners) stop();
    },
  };
}

export interface CommandRequest extends Omit<ExecRequestInput, "terminal" | "stdin"> {
  readonly wantsTerminal: boolean;
  readonly wantsInput: boolean;
  /** Whether the keys that leave a session hang up here; everywhere else they belong to the command. */
  readonly leavesByKey?: boolean;
}

/** Runs a command in a box with this process's stdin, stdout and stderr. */
export async function runCommand(
  client: Client,
  box: string,
  screen: Screen,
  request: CommandRequest,
): Promise<Ending> {
  const { wantsTerminal, wantsInput, leavesByKey = false, ...exec } = request;
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
      const left = new Promise<Ending>((resolve) => {
        const keys = leavesByKey ? new DetachKeys() : undefined;
        terminal.onTyped((typed) => {
          const { forward, isDetached } = keys?.push(typed) ?? { forward: typed, isDetached: false };
          if (wantsInput && forward.length > 0) stream.sendData(forward);
          if (isDetached) resolve({ exit: hungUp, isKept: undefined, isLeft: true });
        });
      });
      terminal.onResize((size) => stream.sendText(JSON.stringify({ type: "resize", ...size })));
      // Once the person has left, the end of the stream is their own doing.
      ending.catch(() => undefined);
      return await Promise.race([ending, left]);
    }
    using _shown = showOutput(stream, screen);
    using _input = wantsInput ? passInput(stream, screen.streams.stdin) : undefined;
    return await ending;
  } finally {
    stream.close();
  }
}
