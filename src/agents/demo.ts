import { z } from "zod";
import type { AgentEntry } from "../contract/agent.ts";
import { boxPaths } from "../contract/box-paths.ts";
import { terminalKeys } from "./launch/terminal-keys.ts";

/** Shows what a box refuses and then does a small piece of real work; `src/demo/main.ts` is its program. */
export const demo: AgentEntry = {
  name: "demo",
  title: "Demo",
  description: "Tries four forbidden things, then fixes a bug; needs no key and no internet.",
  kind: "command",
  install: { kind: "none" },
  options: z.strictObject({}),
  isHeadless: true,
  takesConversationId: false,
  launch: ({ args }) => ({ argv: [boxPaths.node, boxPaths.demo, ...args], env: {}, files: [] }),
  keys: terminalKeys,
  statePaths: [],
  loginPaths: [],
  hosts: [],
  traps: [],
};
