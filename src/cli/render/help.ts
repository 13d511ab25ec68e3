import { commonFlags } from "../line/arguments.ts";
import type { CommandSpec, FlagSpec } from "../command.ts";
import type { Style } from "./style.ts";
import { renderTable } from "./table.ts";

const flagLabel = (name: string, flag: FlagSpec): string =>
  `${flag.short ? `-${flag.short}, ` : "    "}--${name}${flag.type === "switch" ? "" : ` ${flag.value ?? "VALUE"}`}`;

export function renderCommandHelp(command: CommandSpec, style: Style): string {
  const flags = Object.entries({ ...command.flags, ...commonFlags });
  return [
    command.summary,
    "",
    `${style.bold("Usage")}   agentbox ${command.usage}`,
    "",
    style.bold(command.examples.length === 1 ? "Example" : "Examples"),
    ...command.examples.map((example) => `  ${example}`),
    "",
    style.bold("Flags"),
    renderTable(
      flags.map(([name, flag]) => [style.cyan(flagLabel(name, flag)), flag.summary]),
      "  ",
    ),
  ].join("\n");
}

export function renderOverview(commands: readonly CommandSpec[], style: Style): string {
  const groups = [...new Set(commands.map((command) => command.group))];
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    "Puts any coding agent in a box: full autonomy inside, nothing outside unless you grant it.",
    "",
    `${style.bold("Usage")}   agentbox COMMAND [flags]`,
    ...groups.flatMap((group) => [
      "",
      style.bold(group),
      ...commands
        .filter((command) => command.group === group)
        .map((command) => `  ${style.cyan(command.name.padEnd(width))}  ${command.summary}`),
    ]),
    "",
    "Start with:  agentbox run shell -- echo hello",
    "More:        agentbox COMMAND --help",
  ].join("\n");
}
