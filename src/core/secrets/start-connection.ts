import { AgentBoxError } from "../../base/errors.ts";
import { type ConnectionSpec, type ConnectionState } from "../../contract/secret/connection.ts";
import { SecretName } from "../../contract/secret/secret.ts";
import type { Using } from "../using.ts";

/** Checked before a person is sent to a browser: the answer must have an address to go to. */
export async function startConnection(
  core: Using<"connections" | "vault">,
  spec: ConnectionSpec,
): Promise<ConnectionState> {
  if (!SecretName.safeParse(spec.secret).success) {
    throw new AgentBoxError("input.invalid", "A connection is kept under the name of a secret.", {
      hint: "Use lower-case words, such as github.",
    });
  }
  const { vault, connections } = core.ports;
  const known = await vault.find(spec.secret);
  if (known !== undefined && known.kind !== "oauth") {
    throw new AgentBoxError("secret.exists", `"${spec.secret}" is a secret of another kind.`, {
      hint: "Choose another name for the connection.",
    });
  }
  if ((await vault.status()).isLocked) {
    throw new AgentBoxError("vault.locked", "The vault is locked, so nothing could be kept.", {
      hint: "Open it: agentbox vault unlock",
    });
  }
  return connections.start(spec);
}
