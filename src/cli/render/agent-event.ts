import { printableLines } from "../../base/printable.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import type { Style } from "./style.ts";

/** One thing an agent did, as a person reads it; undefined for what only programs want. */
export function renderAgentEvent(event: AgentEvent, style: Style): string | undefined {
  switch (event.kind) {
    case "message":
      return event.role === "agent" ? clean(event.text) : style.dim(`> ${clean(event.text)}`);
    case "thinking":
      return style.dim(short(event.text, 300));
    case "tool_called":
      return `${style.cyan("●")} ${style.bold(clean(event.tool))} ${short(event.summary, 200)}`;
    case "tool_answered": {
      const first = short(event.summary, 160);
      if (event.isError) return `  ${style.red("✗")} ${first}`;
      return first === "" ? undefined : style.dim(`  ⎿ ${first}`);
    }
    case "file_changed":
      return `  ${style.green(event.change === "deleted" ? "-" : "+")} ${clean(event.path)}`;
    case "approval_asked":
      return style.yellow(`? ${short(event.what, 200)}`);
    case "error":
      return style.red(`! ${short(event.message, 500)}`);
    case "session_started":
    case "turn_done":
    case "usage":
      return undefined;
    default:
      return undefined;
  }
}

/** SECURITY: all of it comes from the box, and is shown in a person's terminal. */
const clean = (text: string): string => printableLines(text.trim());

const short = (text: string, length: number): string => {
  const [line = "", ...more] = clean(text).split("\n");
  return line.length > length || more.length > 0 ? `${line.slice(0, length)} …` : line;
};
