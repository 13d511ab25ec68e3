import type { RefObject } from "react";
import { Button, IconButton } from "../parts/button.tsx";
import { Switch } from "../parts/field.tsx";
import { visible } from "../parts/visible-text.ts";
import { TerminalStatus } from "./status.tsx";
import type { TerminalHandle } from "./use-terminal.ts";

interface ToolbarProps {
  terminal: TerminalHandle;
  frame: RefObject<HTMLElement | null>;
  isReadOnly: boolean;
  canType: boolean;
  onReadOnly: (isReadOnly: boolean) => void;
  onFind: () => void;
  hasKeys: boolean;
  onKeys: (hasKeys: boolean) => void;
}

function toggleFullScreen(frame: HTMLElement | null): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void frame?.requestFullscreen().catch(() => undefined);
}

export function TerminalToolbar(props: ToolbarProps) {
  const { terminal, frame, isReadOnly, canType, onReadOnly, onFind, hasKeys, onKeys } = props;
  return (
    <div className="terminal-toolbar" role="toolbar" aria-label="Terminal">
      <TerminalStatus terminal={terminal} isReadOnly={isReadOnly} />
      {/* SECURITY: the box chooses this text, so it is text, in this place only, and never the page's title. */}
      <span className="terminal-title quiet small">{visible(terminal.title)}</span>
      <div className="terminal-tools">
        {canType ? (
          <Switch
            label="Read-only"
            checked={isReadOnly}
            onChange={(event) => onReadOnly(event.currentTarget.checked)}
          />
        ) : null}
        <Button kind="quiet" aria-label="A− smaller text" onClick={() => terminal.changeFontSize(-1)}>
          A−
        </Button>
        <Button kind="quiet" aria-label="A+ larger text" onClick={() => terminal.changeFontSize(1)}>
          A+
        </Button>
        <IconButton label="Find" icon="search" onClick={onFind} />
        {isReadOnly ? null : (
          <Button kind="quiet" aria-pressed={hasKeys} onClick={() => onKeys(!hasKeys)}>
            Keys
          </Button>
        )}
        <Button kind="quiet" onClick={() => toggleFullScreen(frame.current)}>
          Full screen
        </Button>
      </div>
    </div>
  );
}
