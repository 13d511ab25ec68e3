import type { AgentEntry } from "../contract/agent.ts";

/** Any command, or a shell when none is given. */
export const shell: AgentEntry = {
  name: "shell",
  title: "Shell",
  description: "A shell, or the command after --.",
  interactive: ([program, ...rest]) =>
    program === undefined
      ? ["/bin/sh", "-c", "if command -v bash >/dev/null; then exec bash; else exec sh; fi"]
      : [program, ...rest],
  // Without a command it reads one from stdin, as a shell does.
  headless: ([program, ...rest]) => (program === undefined ? ["/bin/sh"] : [program, ...rest]),
  env: {},
};
