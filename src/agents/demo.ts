import type { AgentEntry } from "../contract/agent.ts";
import { boxPaths } from "../contract/box-paths.ts";

const command = (args: readonly string[]) => [boxPaths.node, boxPaths.demo, ...args] as const;

/** Shows what a box refuses and then does a small piece of real work; `src/boxd/demo.ts` is its program. */
export const demo: AgentEntry = {
  name: "demo",
  title: "Demo",
  description: "Tries four forbidden things, then fixes a bug; needs no key and no internet.",
  interactive: command,
  headless: command,
  env: {},
};
