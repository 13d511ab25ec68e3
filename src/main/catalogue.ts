/** The agents of this host: those that come with AgentBox, and those people define in `<home>/agents/*.toml`. */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { agents } from "../agents/index.ts";
import { agentFromToml } from "../agents/user-defined/user-agent.ts";
import { AgentBoxError, systemCode, toAgentBoxError } from "../base/errors.ts";
import type { AgentEntry } from "../contract/agent.ts";
import type { CatalogueProblem } from "../core/context.ts";
import type { OrderFiles } from "../host/ownership.ts";

const maxBytes = 256 * 1024;

export interface Catalogue {
  /** Always the same object; `refresh` changes what is in it. */
  readonly agents: Readonly<Record<string, AgentEntry>>;
  readonly problems: readonly CatalogueProblem[];
  refresh(): Promise<void>;
}

/** `orders`: what another user wrote defines no agent. */
export function openCatalogue(directory: string, orders: OrderFiles): Catalogue {
  const entries: Record<string, AgentEntry> = { ...agents };
  const problems: CatalogueProblem[] = [];
  return {
    agents: entries,
    problems,
    async refresh() {
      const found = await readUserAgents(directory, orders);
      for (const name of Object.keys(entries)) if (!Object.hasOwn(agents, name)) delete entries[name];
      for (const entry of found.entries) entries[entry.name] = entry;
      problems.splice(0, problems.length, ...found.problems);
    },
  };
}

async function readUserAgents(
  directory: string,
  orders: OrderFiles,
): Promise<{ entries: AgentEntry[]; problems: CatalogueProblem[] }> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  });
  const entries: AgentEntry[] = [];
  const problems: CatalogueProblem[] = [];
  for (const name of names.filter((each) => each.endsWith(".toml")).sort()) {
    const file = join(directory, name);
    try {
      entries.push(takeNew(agentFromToml(await readText(file, orders), file), file, entries));
    } catch (error) {
      // One file that is wrong must not take the other agents away.
      problems.push({ agent: basename(name, ".toml"), error: toAgentBoxError(error, "agent.invalid") });
    }
  }
  return { entries, problems };
}

async function readText(file: string, orders: OrderFiles): Promise<string> {
  const text = await orders.read(file, { maxBytes, followsLinks: true });
  if (text !== undefined) return text;
  throw new AgentBoxError("agent.invalid", `${file} cannot be read: it leads to nothing.`);
}

function takeNew(entry: AgentEntry, file: string, others: readonly AgentEntry[]): AgentEntry {
  if (!Object.hasOwn(agents, entry.name) && !others.some(({ name }) => name === entry.name)) return entry;
  throw new AgentBoxError("agent.invalid", `${file} defines "${entry.name}", which exists already.`, {
    hint: "Choose another name.",
  });
}
