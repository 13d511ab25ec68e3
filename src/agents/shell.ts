import { z } from "zod";
import type { AgentEntry } from "../contract/agent.ts";
import { terminalKeys } from "./terminal-keys.ts";

/** bash where the system has one. */
const anyShell = [
  "/bin/sh",
  "-c",
  "if command -v bash >/dev/null; then exec bash; else exec sh; fi",
] as const;

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
  launch({ mode, args: [program, ...rest] }) {
    // Without a command and without a terminal it reads one from stdin, as a shell does.
    const fallback = mode === "interactive" ? anyShell : (["/bin/sh"] as const);
    return { argv: program === undefined ? fallback : [program, ...rest], env: {}, files: [] };
  },
  keys: terminalKeys,
  statePaths: [],
  loginPaths: [],
  hosts: [],
  traps: [],
};
