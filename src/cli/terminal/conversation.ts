import { AgentBoxError } from "../../base/errors.ts";
import type { Stream } from "../../client/index.ts";
import type { StreamAnswer } from "../../contract/api/schemas.ts";
import type { Screen } from "../render/screen.ts";
import { TerminalGuard } from "./guard.ts";

type Exit = Extract<StreamAnswer, { type: "exit" }>;

export interface Ending {
  readonly exit: Exit;
  /** Whether the box is still there; only when that was asked. */
  readonly isKept: boolean | undefined;
  /** Hosts that the box was denied; only when that was asked. */
  readonly deniedHosts?: readonly string[];
  /** The person went away before it had ended. */
  readonly isLeft?: boolean;
}

/** Waits for the end of a stream that runs something, and turns every failure into the one error class. */
export function waitForEnding(
  stream: Stream,
  { awaitsVerdict }: { readonly awaitsVerdict: boolean },
): Promise<Ending> {
  return new Promise((resolve, reject) => {
    let exit: Exit | undefined;
    const finish = (isKept: boolean | undefined, deniedHosts: readonly string[] = []) => {
      if (exit) resolve({ exit, isKept, deniedHosts });
    };
    stream.onText((text) => {
      const answer = JSON.parse(text) as StreamAnswer;
      if (answer.type === "exit") {
        exit = answer;
        if (!awaitsVerdict) finish(undefined);
      } else if (answer.type === "finished") finish(answer.isKept, answer.deniedHosts);
      else if (answer.type === "failed") reject(AgentBoxError.fromBody(answer));
      else if (answer.type === "error") reject(AgentBoxError.fromBody(answer.error));
    });
    stream.onClose((error) => {
      if (exit) finish(undefined);
      else
        reject(
          new AgentBoxError("box.unreachable", "The connection ended before the command did.", {
            hint: "The box may still be running; see: agentbox ls",
            cause: error,
          }),
        );
    });
  });
}

/**
 * Writes what comes to stdout and stderr; a slow reader slows the box down instead of filling our memory. A program or
 * a file gets every byte.
 *
 * SECURITY: a terminal gets what passes a guard, also when the command in the box has none: its input may be a pipe
 * while its output goes to the person's screen. Each stream has its own, and no sequence can be made of both.
 */
export function showOutput(stream: Stream, screen: Screen, guard?: TerminalGuard): Disposable {
  let isClosed = false;
  const { stdout, stderr } = screen.streams;
  const own = new Map<NodeJS.WriteStream, TerminalGuard>();
  for (const target of [stdout, stderr]) if (!guard && target.isTTY) own.set(target, new TerminalGuard());
  screen.onClosedOutput = () => {
    if (isClosed) return;
    isClosed = true;
    // The reader has ended (`| head`): the command is told as if its terminal had gone.
    stream.sendText(JSON.stringify({ type: "signal", signal: "HUP" }));
    stream.resume();
    setTimeout(() => stream.close(), 2_000);
  };
  stream.onData((chunk, channel) => {
    const target = channel === 2 ? stderr : stdout;
    if (isClosed && channel !== 2) return;
    const passed = (guard ?? own.get(target))?.push(chunk) ?? chunk;
    if (passed.length === 0 || target.write(passed)) return;
    stream.pause();
    target.once("drain", () => stream.resume());
  });
  return {
    [Symbol.dispose]() {
      for (const [target, each] of own) if (each.hasChanged) target.write(each.undo());
    },
  };
}

/** Passes stdin on with back pressure, and says when it has ended. */
export function passInput(stream: Stream, stdin: NodeJS.ReadStream): Disposable {
  const onData = (chunk: Buffer) => {
    if (!stream.sendData(chunk)) stdin.pause();
  };
  // An empty piece of data is the end of the input.
  const onEnd = () => void stream.sendData(new Uint8Array(0));
  stream.onDrain(() => stdin.resume());
  stdin.on("data", onData);
  stdin.once("end", onEnd);
  // A terminal that is gone or a closed descriptor is the end of input, not a failure of the command.
  stdin.once("error", onEnd);
  return {
    [Symbol.dispose]() {
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      stdin.pause();
    },
  };
}
