/** The values that a box holds itself. Only for what was asked for by name and granted beforehand. */
import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import { isHeld } from "../../contract/secret/binding.ts";
import type { Using } from "../using.ts";
import { revealSecret } from "./reveal.ts";
import { isGranted } from "./authorise-use.ts";

export interface HeldValues {
  readonly env: Record<string, string>;
  readonly files: { path: string; base64: string }[];
}

/** SECURITY: all of them or none; a box that started without one would run with less than it was promised, unseen. */
export async function heldValues(
  core: Using<"connections" | "note" | "secretGrants" | "vault">,
  box: Box,
): Promise<HeldValues> {
  const values: HeldValues = { env: {}, files: [] };
  for (const binding of box.spec.secrets.filter(isHeld)) {
    if (!(await isGranted(core, box, binding))) {
      throw new AgentBoxError(
        "secret.not_granted",
        `The box "${box.name}" asks to hold the secret "${binding.secret}" itself, and no person has agreed.`,
        { hint: `Agree: agentbox vault grant ${binding.secret} --project ${box.projectDir ?? "DIR"}` },
      );
    }
    const { bytes } = await revealSecret(core, binding.secret);
    if (binding.use.kind === "env") values.env[binding.use.variable] = textOf(binding.secret, bytes);
    else if (binding.use.kind === "file")
      values.files.push({ path: binding.use.path, base64: bytes.toString("base64") });
    const data = { secret: binding.secret, as: binding.use.kind, isHeld: true };
    await core.note("secret.used", box, data);
  }
  return values;
}

function textOf(secret: string, bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!text.includes("\0") && Buffer.from(text).equals(bytes)) return text;
  throw new AgentBoxError("secret.invalid", `The secret "${secret}" cannot be the value of a variable.`, {
    hint: 'Give it as a file: how = "file".',
  });
}
