/** An agent's own options as flags of `run` and `create`, from the schema that checks them. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { AgentEntry } from "../../contract/agent.ts";
import { commonFlags } from "./arguments.ts";
import type { Catalogue, CommandSpec, FlagSpec } from "../command.ts";

/**
 * The command with the flags of the agent that was named. Only when they are needed, because schemas cost start-up
 * time: a person asks for help, or uses a flag that the command does not have.
 */
export async function withAgentFlags(
  command: CommandSpec,
  argv: readonly string[],
  loadCatalogue: () => Promise<Catalogue>,
): Promise<CommandSpec> {
  const [agent] = argv;
  if (!command.takesAgentOptions || agent === undefined || agent.startsWith("-")) return command;
  if (!asksForMore(command, argv)) return command;
  const { agents } = await loadCatalogue();
  const entry = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  if (!entry) return command;
  return { ...command, flags: { ...(await optionFlags(entry, command)), ...command.flags } };
}

function asksForMore(command: CommandSpec, argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const words = end === -1 ? argv : argv.slice(0, end);
  return words.some((word) => {
    if (word === "--help" || word === "-h") return true;
    const name = /^--([^=]+)/.exec(word)?.[1];
    return name !== undefined && !Object.hasOwn(command.flags, name) && !Object.hasOwn(commonFlags, name);
  });
}

interface OptionSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
}

async function optionFlags(entry: AgentEntry, command: CommandSpec): Promise<Record<string, FlagSpec>> {
  const { z } = await import("zod");
  const { properties = {} } = z.toJSONSchema(entry.options, { io: "input" });
  const flags = Object.entries(properties).map(([option, schema]): [string, FlagSpec] => {
    const name = option.replaceAll("_", "-");
    // A flag of ours wins; the option is then set with --option.
    return [name, toFlag(entry, option, schema as OptionSchema)];
  });
  return Object.fromEntries(flags.filter(([name]) => !Object.hasOwn(command.flags, name)));
}

const toFlag = (entry: AgentEntry, option: string, schema: OptionSchema): FlagSpec => ({
  type: schema.type === "boolean" ? "switch" : "text",
  value: schema.type === "integer" || schema.type === "number" ? "N" : "VALUE",
  summary: `${entry.name}: ${schema.description ?? option}`,
  option,
  ...omitUndefined({ choices: schema.enum }),
});
