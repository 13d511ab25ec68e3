import { Button } from "../parts/button.tsx";
import { type BarKey, barKeys, sequenceOf } from "./key-sequences.ts";
import type { TerminalHandle } from "./use-terminal.ts";

const names: Partial<Record<BarKey, string>> = { "↑": "Up", "↓": "Down", "←": "Left", "→": "Right" };

interface KeyBarProps {
  terminal: TerminalHandle;
  /** Shown on request; on a touch screen always. */
  isShown: boolean;
  isReadOnly: boolean;
}

/** Keys that a phone's keyboard has not. */
export function KeyBar({ terminal, isShown, isReadOnly }: KeyBarProps) {
  if (isReadOnly) return null;
  const press = (key: BarKey) => {
    const isApplicationMode = terminal.screen.current?.terminal.modes.applicationCursorKeysMode ?? false;
    const sequence = sequenceOf(key, isApplicationMode);
    if (sequence === undefined) {
      terminal.holdCtrl(!terminal.isCtrlHeld);
      terminal.focus();
    } else terminal.press(sequence);
  };
  return (
    <div className={`terminal-keys ${isShown ? "terminal-keys-shown" : ""}`} role="toolbar" aria-label="Keys">
      {barKeys.map((key) => (
        <Button
          key={key}
          aria-label={names[key]}
          aria-pressed={key === "Ctrl" ? terminal.isCtrlHeld : undefined}
          // The terminal keeps the focus, and with it a phone keeps its keyboard open.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => press(key)}
        >
          {key}
        </Button>
      ))}
      <Button onPointerDown={(event) => event.preventDefault()} onClick={terminal.pasteFromClipboard}>
        Paste
      </Button>
    </div>
  );
}
