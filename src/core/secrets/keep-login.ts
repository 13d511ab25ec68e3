/**
 * Takes the subscription of an agent into the vault. The agent's program on the host has signed in; from here on the
 * daemon refreshes the tokens, for all boxes, and none of it is in any of them.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { RouteBody } from "../../contract/api/routes.ts";
import { agentLogins, loginSecret, requireUsableLogin } from "../../contract/secret/agent-login.ts";
import { OAuthTokens } from "../../contract/secret/connection.ts";
import type { SecretInfo } from "../../contract/secret/secret.ts";
import type { Using } from "../using.ts";
import { applySecrets } from "./apply-secrets.ts";
import { tokenKeeper } from "./token-keeper.ts";

export async function keepLogin(
  core: Using<"connections" | "gate" | "injection" | "live" | "note" | "sshKeys" | "store" | "vault">,
  body: RouteBody<"keepLogin">,
): Promise<SecretInfo> {
  const { agent, form } = body;
  requireUsableLogin(agent);
  const text = Buffer.from(body.value, "base64").toString("utf8");
  const tokens = form === "token" ? tokenOf(agent, text) : core.ports.connections.readLogin(agent, text);
  const secret = loginSecret(agent);
  await tokenKeeper(() => core).write(secret, tokens);
  await core.note("secret.connected", undefined, {
    secret,
    agent,
    isRefreshed: tokens.refreshToken !== undefined,
  });
  await applySecrets(core, secret);
  return (await core.ports.vault.find(secret))!;
}

/** A token made for this purpose: no other program refreshes it, and it is used until its vendor ends it. */
function tokenOf(agent: string, text: string): OAuthTokens {
  const accessToken = text.trim();
  if (agentLogins[agent]?.tokenCommand === undefined || !/^[\x21-\x7e]{16,8192}$/.test(accessToken)) {
    throw new AgentBoxError("secret.invalid", `This cannot be a token of ${agent}.`, {
      hint: `Make one with: ${agentLogins[agent]?.tokenCommand ?? "the agent's own program, and use --from"}`,
    });
  }
  return OAuthTokens.parse({ tokenEndpoint: "", clientId: "", scopes: [], accessToken });
}
