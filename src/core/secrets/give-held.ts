import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import { isHeld } from "../../contract/secret/binding.ts";
import type { BoxLink } from "../../ports/link.ts";
import type { Using } from "../using.ts";
import { runEnvrc } from "../boot/run-envrc.ts";
import { heldValues } from "./held.ts";

/** Below what one message of the link and the box's own directory for them can hold. */
const maxHeldBytes = 512 * 1024;

/** Whether the box waits for values before anything of its own runs: secrets that it holds, or what a script sets. */
export const awaitsValues = ({ spec }: Pick<Box, "spec">): boolean =>
  spec.envScript !== undefined || spec.secrets.some(isHeld);

/**
 * Hands a box the values that it holds itself, before anything of its own runs. SECURITY: over the link and nowhere
 * else; the config beside the socket is a file on the host's disk.
 */
export async function giveHeld(
  core: Using<"connections" | "note" | "secretGrants" | "vault">,
  box: Box,
  link: BoxLink,
): Promise<void> {
  if (!awaitsValues(box)) return;
  const variables = await runEnvrc(core, box, link);
  const secrets = await heldValues(core, box);
  // A secret that was granted wins over what a script says.
  const held = { ...secrets, env: { ...variables, ...secrets.env } };
  const bytes = [...Object.values(held.env), ...held.files.map(({ base64 }) => base64)].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  );
  if (bytes > maxHeldBytes) {
    throw new AgentBoxError(
      "secret.invalid",
      `The secrets of "${box.name}" are too large to be held by it.`,
      {
        hint: "Let the gate use them in its place: how = bearer, basic, header, git, aws or ssh.",
      },
    );
  }
  await link.putSecrets(held);
}
