import { z } from "zod";
import type { AgentEntry } from "../contract/agent.ts";
import { launchShell } from "./launch/launch-shell.ts";
import { terminalKeys } from "./launch/terminal-keys.ts";

/** Any command, or a shell when none is given. */
export const shell: AgentEntry = {
  name: "shell",
  title: "Shell",
  description: "A shell, or the command after --.",
  kind: "command",
  install: { kind: "none" },
  options: z.strictObject({}),
  isHeadless: true,
  takesConversationId: false,
  launch: launchShell,
  keys: terminalKeys,
  statePaths: [],
  loginPaths: [],
  hosts: [],
  traps: [],
};
