/** A secret that is added now: its facts are checked before anything is locked, sealed or written. */
import { isAbsolute } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { NewSecret } from "../../ports/vault.ts";
import { SecretFacts } from "./document.ts";
import { checkValue } from "./value-checks.ts";

const defaultCacheMs = 5 * 60_000;

export function parseNewSecret(secret: NewSecret, nowMs: number): SecretFacts {
  const { name, kind, source, note, value, cacheMs = defaultCacheMs } = secret;
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs, cacheMs };
  const parsed = SecretFacts.safeParse({
    name,
    kind,
    source,
    ...times,
    ...omitUndefined({ note }),
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refused(`A secret cannot be added: ${issue?.path.join(".")} is not of the expected form.`);
  }
  if (source.kind === "stored") {
    if (value === undefined) throw refused(`There is no value for "${name}".`);
    checkValue(name, kind, value);
    return parsed.data;
  }
  if (value !== undefined) throw refused(`"${name}" is kept elsewhere, so it is given no value.`);
  // The daemon's working directory is not the person's.
  if (source.kind === "file" && !isAbsolute(source.path))
    throw refused("The path of a file must be absolute.");
  if (source.kind === "env" && /[=\0]/.test(source.variable)) throw refused("A variable has no such name.");
  if (
    source.kind === "command" &&
    (source.argv[0] === "" || source.argv.some((word) => word.includes("\0")))
  ) {
    throw refused("The command has a word that no command can have.");
  }
  return parsed.data;
}

const refused = (problem: string): AgentBoxError =>
  new AgentBoxError("input.invalid", problem, { hint: "See: agentbox vault --help" });
