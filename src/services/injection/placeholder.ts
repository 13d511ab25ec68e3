/**
 * The value that a box holds in place of a secret: made from the incarnation and the name of the binding, so it is
 * the same after a restart, another one in a fork, and says nothing about the value.
 */
import { createHash } from "node:crypto";
import type { SecretBinding } from "../../contract/secret/binding.ts";
import type { GateBox } from "../../ports/gate.ts";

export interface Placeholder {
  /** The text that programs send; for AWS, the half that is never sent. */
  readonly token: string;
  /** For AWS: the half that names the key. */
  readonly accessKeyId?: string | undefined;
  /** The text that is searched for: without the prefix, which many tokens have. */
  readonly marks: readonly string[];
}

const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export const isAws = ({ use }: SecretBinding): boolean =>
  use.kind === "inject" && use.destinations.some(({ as }) => as.kind === "aws");

export function placeholderOf({ incarnation }: GateBox, binding: SecretBinding): Placeholder {
  const digest = createHash("sha256").update(`${incarnation}\0${binding.name}`).digest();
  const mark = `agentbox${digest.toString("hex", 0, 16)}`;
  const token = `${binding.prefix}${mark}`;
  if (!isAws(binding)) return { token, marks: [mark] };
  const accessKeyId = `AKIA${[...digest.subarray(16)].map((byte) => base32[byte & 31]).join("")}`;
  return { token, accessKeyId, marks: [mark, accessKeyId] };
}

/** The variables in which programs find them. For AWS, a variable whose name ends so holds the id. */
export function placeholderVariables(
  box: GateBox,
  bindings: readonly SecretBinding[],
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const binding of bindings) {
    if (binding.use.kind !== "inject") continue;
    const { token, accessKeyId } = placeholderOf(box, binding);
    for (const name of binding.env)
      variables[name] ??= accessKeyId !== undefined && name.endsWith("_ID") ? accessKeyId : token;
  }
  return variables;
}
