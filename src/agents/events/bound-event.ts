import { type AgentEvent, maxSaidText } from "../../contract/agent-events.ts";

const maxName = 128;
const names: ReadonlySet<string> = new Set(["id", "tool", "conversation"]);

/** Cuts what an agent said to the sizes of the contract, so that a long text is a shorter event and not a lost one. */
export function boundEvent<T extends AgentEvent>(event: T): T {
  const cut = Object.entries(event).map(([key, value]) => [
    key,
    typeof value === "string" ? value.slice(0, names.has(key) ? maxName : maxSaidText) : value,
  ]);
  return Object.fromEntries(cut) as T;
}
