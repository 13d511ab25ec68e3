import type { Launch, LaunchRequest } from "../../contract/agent.ts";

/** bash where the system has one. */
export const anyShell = [
  "/bin/sh",
  "-c",
  "if command -v bash >/dev/null; then exec bash; else exec sh; fi",
] as const;

/** The command of the shell's entry. Beside the entry, so that the CLI can use it without loading any schema. */
export function launchShell({
  mode,
  args: [program, ...rest],
}: Pick<LaunchRequest, "mode" | "args">): Launch {
  // Without a command and without a terminal it reads one from stdin, as a shell does.
  const fallback = mode === "interactive" ? anyShell : (["/bin/sh"] as const);
  return { argv: program === undefined ? fallback : [program, ...rest], env: {}, files: [] };
}
