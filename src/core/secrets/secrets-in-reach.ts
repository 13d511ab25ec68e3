/** The secrets that a box knows or may use. A page of the box in a browser can give them away. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/digest.ts";
import { printable } from "../../base/printable.ts";
import type { Box } from "../../contract/box.ts";
import type { SecretBinding } from "../../contract/secret/binding.ts";
import { usePhrase } from "../../contract/secret/use-words.ts";
import type { Using } from "../using.ts";
import { isGranted } from "./authorise-use.ts";
import { useDigest } from "./use.ts";

export interface SecretInReach {
  /** Another secret, another use of it, or one that was granted since, is another id. */
  readonly id: string;
  /** The power it gives the box, as in "The box can …". */
  readonly text: string;
}

/**
 * SECURITY: also what was asked for and is not granted yet, because a person can say yes to one request at any time. Once it
 * is granted for good it counts as another.
 */
export async function secretsInReach(
  core: Using<"secretGrants">,
  box: Box,
): Promise<readonly SecretInReach[]> {
  const { secrets, givenEnv = [], mounts } = box.spec;
  const bindings = await Promise.all(
    secrets.map(async (binding) => ofBinding(binding, await isGranted(core, box, binding))),
  );
  return [
    ...bindings,
    ...givenEnv.map((name) => ({
      id: `env:${name}`,
      text: `read the variable ${printable(name)}, whose value you gave it`,
    })),
    ...mounts.map(({ source, target }) => ({
      id: `mount:${source}:${target}`,
      text: `read the directory ${printable(source)} of this host`,
    })),
  ];
}

function ofBinding(binding: SecretBinding, isNowGranted: boolean): SecretInReach {
  const id = `secret:${binding.secret}:${useDigest(binding)}:${isNowGranted ? "granted" : "asked"}`;
  const until = isNowGranted ? "" : ", once you agree";
  return { id, text: `${phraseOf(binding)}${until}` };
}

function phraseOf({ secret, use }: SecretBinding): string {
  if (use.kind === "inject" || use.kind === "ssh")
    return printable(`use the secret ${secret} ${usePhrase(use)}`);
  const where = use.kind === "env" ? `the variable ${use.variable}` : `the file ${use.path}`;
  return printable(`read the secret ${secret} itself, in ${where}`);
}

/** For a yes to exactly this list, of exactly this box. */
export function reachDigest({ incarnation }: Box, reach: readonly SecretInReach[]): string {
  const ids = reach.map(({ id }) => id).sort();
  return `sha256:${createHash("sha256").update(canonicalJson({ incarnation, ids })).digest("hex")}`;
}
