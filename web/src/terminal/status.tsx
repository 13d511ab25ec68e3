import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import type { ConnectionState } from "./session-connection.ts";
import type { TerminalHandle } from "./use-terminal.ts";

function endedWords({ exitCode, signal }: Extract<ConnectionState, { phase: "ended" }>): string {
  if (signal !== null) return `ended by ${signal}`;
  return exitCode === 0 || exitCode === null ? "ended" : `ended with ${exitCode}`;
}

function words(state: ConnectionState): string {
  if (state.phase === "ended") return endedWords(state);
  return { connecting: "connecting", live: "live", lost: "connection lost", refused: "not available" }[
    state.phase
  ];
}

const tones = { connecting: "warn", live: "good", lost: "bad", ended: "plain", refused: "bad" } as const;

interface StatusProps {
  terminal: TerminalHandle;
  isReadOnly: boolean;
  isShort?: boolean;
}

/** Whether what is on the screen is what is, and what became of the keys when it was not. */
export function TerminalStatus({ terminal, isReadOnly, isShort = false }: StatusProps) {
  const { state, droppedKeys } = terminal;
  const keys = droppedKeys === 1 ? "1 key was not sent" : `${droppedKeys} keys were not sent`;
  return (
    <output className="terminal-status">
      <Badge tone={tones[state.phase]}>{words(state)}</Badge>
      {isReadOnly ? <Badge>read-only</Badge> : null}
      {droppedKeys > 0 ? (
        <span className="terminal-dropped">
          {keys}
          <Button kind="quiet" onClick={terminal.forgetDropped}>
            OK
          </Button>
        </span>
      ) : null}
      {!isShort && state.phase === "lost" ? <Button onClick={terminal.retry}>Try now</Button> : null}
    </output>
  );
}
