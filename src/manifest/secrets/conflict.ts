/** Why two secrets, or a secret and a variable of the box, cannot stand side by side. Pure. */
import type { CompiledBinding } from "./compile-binding.ts";
import { sharedDestination } from "./overlap.ts";

export interface SecretConflict {
  /** The rule of the manifest that is broken. */
  readonly code: "E062" | "E063";
  readonly message: string;
  readonly hint: string;
}

export function conflictOf(
  binding: CompiledBinding,
  others: readonly CompiledBinding[],
  taken: ReadonlySet<string>,
): SecretConflict | undefined {
  const { name } = binding;
  for (const other of others) {
    const destination = sharedDestination(binding.use, other.use);
    if (destination === undefined || areOneInTwoWays(binding, other)) continue;
    const message = `The secrets "${other.name}" and "${name}" are both for ${destination}.`;
    return { code: "E062", message, hint: "Remove one, or tell their paths or methods apart." };
  }
  for (const variable of variablesOf(binding)) {
    const other = others.find((candidate) => variablesOf(candidate).includes(variable));
    if (other === undefined && !taken.has(variable)) continue;
    const where = other === undefined ? "[env]" : `the secret "${other.name}"`;
    const message = `The variable ${variable} of the secret "${name}" is set by ${where} as well.`;
    return { code: "E063", message, hint: "Keep one of the two." };
  }
  return undefined;
}

/**
 * The same secret for git and for the API of one host: where both have paths, a request that fits both is refused when
 * it comes, and the wrong value cannot go in.
 */
const areOneInTwoWays = (a: CompiledBinding, b: CompiledBinding): boolean =>
  a.secret === b.secret && [a, b].every(hasPaths);

const hasPaths = ({ use }: CompiledBinding): boolean =>
  use.kind === "inject" && use.destinations.every(({ paths }) => paths.length > 0);

const variablesOf = ({ use, env }: CompiledBinding): readonly string[] =>
  use.kind === "env" ? [use.variable] : env;
