import { AgentBoxError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { OAuthTokens } from "../../contract/secret/connection.ts";
import type { TokenKeeper } from "../../ports/connections.ts";
import type { Using } from "../using.ts";
import { revealText } from "./reveal.ts";

/** A token that another process is using right now stays recognisable for as long as it could be valid. */
const graceMs = 3_600_000;

/** Tokens of connections are secrets of the vault like all others. */
export const tokenKeeper = (core: () => Using<"connections" | "vault">): TokenKeeper => ({
  async read(secret) {
    const { kind, bytes } = await core().ports.vault.reveal(secret);
    const tokens = kind === "oauth" ? OAuthTokens.safeParse(parseJson(bytes.toString("utf8"))) : undefined;
    if (tokens?.success === true) return tokens.data;
    throw new AgentBoxError("secret.invalid", `The secret "${secret}" is not a connection.`, {
      hint: `Sign in: agentbox connect ${secret}`,
    });
  },
  async write(secret, tokens) {
    const { vault } = core().ports;
    const value = Buffer.from(JSON.stringify(tokens));
    const known = await vault.find(secret);
    if (known === undefined)
      await vault.add({ name: secret, kind: "oauth", source: { kind: "stored" }, value });
    else if (known.kind === "oauth") await vault.rotate(secret, value, graceMs);
    else {
      throw new AgentBoxError("secret.exists", `"${secret}" is a secret of another kind.`, {
        hint: "Choose another name for the connection.",
      });
    }
  },
  clientSecret: (secret) => revealText(core(), secret),
});
