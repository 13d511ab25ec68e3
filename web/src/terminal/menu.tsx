import { useEffect, useRef } from "react";
import { Button } from "../parts/button.tsx";
import type { TerminalHandle } from "./use-terminal.ts";

export interface MenuPosition {
  readonly x: number;
  readonly y: number;
}

interface MenuProps {
  position: MenuPosition | undefined;
  terminal: TerminalHandle;
  isReadOnly: boolean;
  onClose: () => void;
}

const width = 180;
const height = 130;

/** The menu of a right click. */
export function TerminalMenu({ position, terminal, isReadOnly, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!position) return undefined;
    menu.current?.querySelector("button")?.focus();
    const close = (event: Event) => {
      const isInside = event.target instanceof Node && menu.current?.contains(event.target);
      if (event instanceof KeyboardEvent ? event.key === "Escape" : !isInside) onClose();
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("keydown", close);
    };
  }, [position, onClose]);
  if (!position) return null;
  const act = (what: () => void) => () => {
    onClose();
    what();
    terminal.focus();
  };
  const style = {
    left: Math.max(0, Math.min(position.x, innerWidth - width)),
    top: Math.max(0, Math.min(position.y, innerHeight - height)),
  };
  return (
    <div ref={menu} className="terminal-menu" role="menu" aria-label="Terminal" style={style}>
      <Button kind="quiet" role="menuitem" onClick={act(terminal.copy)}>
        Copy
      </Button>
      {isReadOnly ? null : (
        <Button kind="quiet" role="menuitem" onClick={act(terminal.pasteFromClipboard)}>
          Paste
        </Button>
      )}
      <Button kind="quiet" role="menuitem" onClick={act(() => terminal.screen.current?.terminal.selectAll())}>
        Select all
      </Button>
    </div>
  );
}
