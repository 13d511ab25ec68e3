import { AgentBoxError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import type { AgentEntry } from "../../contract/agent.ts";
import type { Using } from "../using.ts";

export function getAgent(core: Using<"agents" | "agentProblems">, name: string): AgentEntry {
  const { agents } = core.ports;
  const entry = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (entry) return entry;
  const problem = core.ports.agentProblems.find(({ agent }) => agent === name);
  if (problem) throw problem.error;
  const meant = suggest(name, Object.keys(agents));
  throw new AgentBoxError("agent.unknown", `There is no agent "${name.slice(0, 80)}".`, {
    hint: meant ? `Did you mean "${meant}"?` : `Choose one of: ${Object.keys(agents).join(", ")}.`,
  });
}
