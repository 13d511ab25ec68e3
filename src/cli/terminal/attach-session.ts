import type { Client } from "../../client/index.ts";
import type { Screen } from "../render/screen.ts";
import { showOutput, waitForEnding } from "./conversation.ts";
import { ringOnQuestions } from "./bell.ts";
import { DetachKeys } from "./detach-keys.ts";
import { commandExitCode } from "./exit-code.ts";
import { blankScreen } from "./guard.ts";
import { openRawTerminal } from "./raw-terminal.ts";

export type AttachOutcome =
  | { readonly kind: "detached" }
  | { readonly kind: "ended"; readonly exitCode: number };

export interface AttachOptions {
  readonly box: string;
  readonly session: string;
  readonly readOnly: boolean;
  /** Nothing has been drawn yet, so the session can go on below what the terminal shows. */
  readonly isNew: boolean;
}

/** Joins a session until it ends or the person leaves. Leaving never ends the session. */
export async function attachSession(
  client: Client,
  screen: Screen,
  options: AttachOptions,
): Promise<AttachOutcome> {
  const isTyping = screen.isInteractive;
  const readOnly = options.readOnly || !isTyping;
  const stream = await client.attach(options.box, options.session, { ...screen.size, readOnly });
  const ended = waitForEnding(stream, { awaitsVerdict: false }).then(
    ({ exit }): AttachOutcome => ({ kind: "ended", exitCode: commandExitCode(exit) }),
  );
  try {
    if (!isTyping) {
      using _shown = showOutput(stream, screen);
      screen.onClosedOutput = () => stream.close();
      return await ended;
    }
    using terminal = openRawTerminal(screen);
    using _bell = ringOnQuestions(client, screen, options.box);
    if (!options.isNew) screen.streams.stdout.write(blankScreen(screen.size.rows));
    using _shown = showOutput(stream, screen, terminal.guard);
    screen.onClosedOutput = () => stream.close();
    terminal.onResize((size) => stream.sendText(JSON.stringify({ type: "resize", ...size })));
    const detached = new Promise<AttachOutcome>((resolve) => {
      const keys = new DetachKeys();
      terminal.onTyped((typed) => {
        const { forward, isDetached } = keys.push(typed);
        if (!readOnly && forward.length > 0) stream.sendData(forward);
        if (isDetached) resolve({ kind: "detached" });
      });
      // Losing the terminal is leaving.
      for (const signal of ["SIGHUP", "SIGTERM"] as const)
        process.once(signal, () => resolve({ kind: "detached" }));
    });
    // After the person has left, the end of the stream is not reported.
    ended.catch(() => undefined);
    return await Promise.race([ended, detached]);
  } finally {
    stream.close();
  }
}
