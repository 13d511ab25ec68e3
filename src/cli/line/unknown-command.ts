/** A word that is no command: the command that does it here, or the one that was probably meant. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { suggest } from "../../base/suggest.ts";
import { commands } from "../table/index.ts";

/** Commands of git, docker, npm and shells that people type here. `list` and `ps` work: they are `ls` in src/cli/index.ts. */
export const otherNames: Readonly<Record<string, string>> = {
  apply: "merge BOX",
  ask: "send BOX TEXT…",
  bash: "exec BOX",
  changes: "diff BOX",
  commit: "merge BOX",
  dashboard: "open",
  delete: "rm BOX",
  destroy: "rm BOX",
  down: "stop BOX",
  enter: "exec BOX",
  fork: "checkpoints BOX --fork NAME",
  info: "inspect BOX",
  install: "agents add AGENT",
  kill: "stop BOX",
  log: "logs BOX",
  new: "run AGENT",
  publish: "pr BOX",
  reboot: "restart BOX",
  remove: "rm BOX",
  revert: "undo",
  rollback: "checkpoints BOX --restore CHECKPOINT",
  secret: "vault set NAME",
  secrets: "vault ls",
  shell: "run shell",
  show: "inspect BOX",
  snapshot: "checkpoints BOX --take",
  ssh: "exec BOX",
  status: "ls",
  tell: "send BOX TEXT…",
  top: "stats --watch",
  unpause: "resume BOX",
  up: "start BOX",
  update: "agents update",
  upgrade: "agents update",
  web: "open",
};

/** `isAgent` says whether the word names an agent, which is run. */
export function unknownCommand(name: string, isAgent: (name: string) => boolean): AgentBoxError {
  const known = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
  const instead = known ?? (isAgent(name) ? `run ${name}` : undefined);
  const meant = suggest(
    name,
    commands.map((command) => command.name),
  );
  const typo = meant ? `Did you mean: agentbox ${meant}` : "See: agentbox help";
  return new AgentBoxError("command.unknown", `There is no command "${name}".`, {
    hint: instead ? `agentbox ${name} → agentbox ${instead}` : typo,
    facts: { command: name, ...omitUndefined({ suggestion: instead ?? meant }) },
  });
}
