import type { Screen } from "../render/screen.ts";
import { TerminalGuard } from "./guard.ts";

/** The person's terminal while it belongs to a session in a box. Closing it undoes everything. */
export interface RawTerminal extends Disposable {
  /** All output to the screen passes through here. */
  readonly guard: TerminalGuard;
  onTyped(listener: (typed: Buffer) => void): void;
  onResize(listener: (size: { cols: number; rows: number }) => void): void;
}

export function openRawTerminal(screen: Screen): RawTerminal {
  const { stdin, stdout } = screen.streams;
  const guard = new TerminalGuard();
  const undo: (() => void)[] = [];
  stdin.setRawMode(true);
  stdin.resume();
  return {
    guard,
    onTyped(listener) {
      stdin.on("data", listener);
      undo.push(() => stdin.off("data", listener));
    },
    onResize(listener) {
      const resized = () => listener(screen.size);
      stdout.on("resize", resized);
      undo.push(() => stdout.off("resize", resized));
    },
    [Symbol.dispose]() {
      for (const step of undo) step();
      stdin.setRawMode(false);
      stdin.pause();
      // SECURITY: a session that ended or was left in the middle must not leave the person's terminal reporting the
      // mouse into their shell, or showing nothing of what they type next.
      stdout.write(guard.undo());
    },
  };
}
