import { spawn } from "@lydell/node-pty";
import { waitFor } from "../../src/base/wait-for.ts";

/** A program on a terminal of its own, and every byte that it has written there. */
export interface PtyProgram extends Disposable {
  readonly written: readonly Buffer[];
  readonly text: () => string;
  type(keys: string): void;
  /** Until it has written this. */
  shows(text: string | RegExp): Promise<void>;
}

const endMark = "-- the end --";

/** It stays after its end until it is disposed of, because the tail of what a finished program wrote may be lost. */
export function onPty(
  argv: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): PtyProgram & { ended(): Promise<void> } {
  const written: Buffer[] = [];
  // The mark is put together by the shell, so that it is not found in a command line that is shown.
  const script = `"$@"; printf '%s%s' '${endMark.slice(0, 5)}' '${endMark.slice(5)}'; read -r end`;
  const pty = spawn("sh", ["-c", script, "sh", ...argv], {
    cols: 80,
    rows: 24,
    encoding: null,
    cwd: options.cwd ?? "/",
    env: { ...(options.env ?? process.env), TERM: "xterm-256color" },
  });
  pty.onData((data) => void written.push(Buffer.from(data as unknown as Uint8Array)));
  const text = () => Buffer.concat(written).toString();
  const shows = async (wanted: string | RegExp) => {
    await waitFor(
      `the terminal shows ${String(wanted)}`,
      () => (typeof wanted === "string" ? text().includes(wanted) : wanted.test(text())),
      30_000,
    );
  };
  return {
    written,
    text,
    type: (keys) => pty.write(keys),
    shows,
    ended: () => shows(endMark),
    [Symbol.dispose]: () => pty.kill("SIGKILL"),
  };
}
