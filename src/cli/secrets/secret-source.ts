import { resolve } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import type { SecretSource } from "../../contract/secret/secret.ts";

/** `env:NAME`, `file:PATH` or `command:PROGRAM ARGS`. The command is run without a shell, so a word is what has no spaces. */
export function parseSource(text: string): SecretSource {
  const [, kind, rest = ""] = /^(env|file|command):(.+)$/s.exec(text) ?? [];
  if (kind === "env") return { kind, variable: rest };
  if (kind === "file") return { kind, path: resolve(rest) };
  if (kind === "command") return { kind, argv: rest.trim().split(/\s+/) };
  throw new AgentBoxError("input.invalid", "This is not a place that a value can be read from.", {
    hint: "Write env:NAME, file:PATH or command:PROGRAM ARGS.",
  });
}
