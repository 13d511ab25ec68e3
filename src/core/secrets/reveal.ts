/** The one way from a name to a value. The value is used at once and not kept. */
import { AgentBoxError } from "../../base/errors.ts";
import { OAuthTokens } from "../../contract/secret/connection.ts";
import type { SecretValue } from "../../ports/vault.ts";
import type { Using } from "../using.ts";

/** The value that goes into requests: for a connection its access token, refreshed if needed. */
export async function revealSecret(
  core: Using<"connections" | "vault">,
  secret: string,
): Promise<SecretValue> {
  const info = await core.ports.vault.find(secret);
  if (info?.kind !== "oauth") return core.ports.vault.reveal(secret);
  const { value } = await core.ports.connections.accessToken(secret);
  return { kind: "text", version: info.versions.at(-1)?.version ?? 1, bytes: Buffer.from(value) };
}

/** Every value that may still be valid: a version in its grace opens doors like the one in use. */
export async function revealAll(core: Using<"vault">, secret: string): Promise<readonly SecretValue[]> {
  const values = await core.ports.vault.revealAll(secret);
  return values.map((value) => (value.kind === "oauth" ? accessTokenOf(value) : value));
}

function accessTokenOf({ version, bytes }: SecretValue): SecretValue {
  const { accessToken } = OAuthTokens.parse(JSON.parse(bytes.toString("utf8")));
  return { kind: "text", version, bytes: Buffer.from(accessToken) };
}

export async function revealText(core: Using<"connections" | "vault">, secret: string): Promise<string> {
  const { kind, bytes } = await revealSecret(core, secret);
  if (kind === "text") return bytes.toString("utf8");
  throw new AgentBoxError("secret.invalid", `The secret "${secret}" is of the kind ${kind}, not a text.`, {
    hint: "Use another secret, or keep this one again as a text.",
  });
}
