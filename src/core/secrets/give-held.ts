import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import { isHeld } from "../../contract/secret/binding.ts";
import type { BoxLink } from "../../ports/link.ts";
import type { Using } from "../using.ts";
import { heldValues } from "./held.ts";

/** Below what one message of the link and the box's own directory for them can hold. */
const maxHeldBytes = 512 * 1024;

export const holdsSecrets = ({ spec }: Pick<Box, "spec">): boolean => spec.secrets.some(isHeld);

/**
 * Hands a box the values that it holds itself, before anything of its own runs. SECURITY: over the link and nowhere
 * else; the config beside the socket is a file on the host's disk.
 */
export async function giveHeld(
  core: Using<"connections" | "note" | "secretGrants" | "vault">,
  box: Box,
  link: BoxLink,
): Promise<void> {
  if (!holdsSecrets(box)) return;
  const held = await heldValues(core, box);
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
