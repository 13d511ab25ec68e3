/**
 * The login an agent keeps for itself, as tokens the vault can keep and refresh. Pure: the text of the agent's file
 * comes in, and nothing of it ever is in an error. Endpoints and client ids are those the agents' own programs have.
 */
import { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { OAuthTokens } from "../../contract/secret/connection.ts";
import { jwtExpiryMs } from "./jwt-expiry.ts";
import { geminiClientId } from "./public-clients.ts";

interface AgentLogin {
  /** How a person logs in on the host. */
  readonly command: string;
  readonly read: (document: unknown) => z.input<typeof OAuthTokens> | undefined;
}

const Text = z.string().min(1);
/** Agents write an empty text where they have none. */
const OptionalText = z
  .string()
  .nullish()
  .transform((text) => (text ? text : undefined));
const Moment = z
  .number()
  .nonnegative()
  .nullish()
  .transform((ms) => (ms ? Math.floor(ms) : undefined));

const Claude = z.object({
  claudeAiOauth: z.object({
    accessToken: Text,
    refreshToken: OptionalText,
    expiresAt: Moment,
    scopes: z.array(z.string()).default([]),
  }),
});

const Codex = z.object({
  tokens: z.object({ access_token: Text, refresh_token: OptionalText, account_id: OptionalText }),
});

const Gemini = z.object({
  access_token: Text,
  refresh_token: OptionalText,
  expiry_date: Moment,
  scope: z.string().default(""),
});

const CopilotUser = z.object({ host: z.string(), login: z.string() });
const CopilotTokens = z.record(
  z.string(),
  z.union([Text, z.object({ token: Text }).transform((t) => t.token)]),
);
const Copilot = z
  .object({
    copilotTokens: CopilotTokens.optional(),
    copilot_tokens: CopilotTokens.optional(),
    lastLoggedInUser: CopilotUser.optional().catch(undefined),
    last_logged_in_user: CopilotUser.optional().catch(undefined),
  })
  .transform((config) => ({
    tokens: config.copilotTokens ?? config.copilot_tokens ?? {},
    user: config.lastLoggedInUser ?? config.last_logged_in_user,
  }));

/** The directories that each agent keeps below a person's home. */
const logins = new Map<string, AgentLogin>([
  // .claude/.credentials.json
  ["claude", { command: "claude", read: readClaude }],
  // .codex/auth.json
  ["codex", { command: "codex login", read: readCodex }],
  // .gemini/oauth_creds.json
  ["gemini", { command: "gemini", read: readGemini }],
  // .copilot/config.json, where there is no keyring
  ["copilot", { command: "copilot login", read: readCopilot }],
]);

export function readAgentLogin(agent: string, text: string): OAuthTokens {
  const login = logins.get(agent);
  if (login === undefined) {
    throw new AgentBoxError("input.invalid", `The login of "${agent}" cannot be taken over.`, {
      hint: `Those of ${[...logins.keys()].join(", ")} can.`,
    });
  }
  const { read, command } = login;
  const tokens = OAuthTokens.safeParse(read(parseLenient(text)));
  if (tokens.success) return tokens.data;
  // SECURITY: without the cause, whose message would repeat what is in the file.
  throw new AgentBoxError("secret.invalid", `The file of ${agent} has no login that can be used.`, {
    hint: `Log in with: ${command}`,
  });
}

/** Copilot begins its file with lines of comment. */
const parseLenient = (text: string): unknown => parseJson(text.replaceAll(/^\s*\/\/.*$/gm, ""));

function readClaude(document: unknown): z.input<typeof OAuthTokens> | undefined {
  const login = Claude.safeParse(document).data?.claudeAiOauth;
  return (
    login && {
      tokenEndpoint: "https://platform.claude.com/v1/oauth/token",
      clientId: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
      dialect: "json",
      scopes: login.scopes,
      accessToken: login.accessToken,
      refreshToken: login.refreshToken,
      expiresAtMs: login.expiresAt,
    }
  );
}

function readCodex(document: unknown): z.input<typeof OAuthTokens> | undefined {
  const login = Codex.safeParse(document).data?.tokens;
  return (
    login && {
      tokenEndpoint: "https://auth.openai.com/oauth/token",
      clientId: "app_EMoamEEZ73f0CkXaXp7hrann",
      dialect: "json",
      scopes: [],
      accessToken: login.access_token,
      refreshToken: login.refresh_token,
      expiresAtMs: jwtExpiryMs(login.access_token),
      extra: login.account_id === undefined ? {} : { accountId: login.account_id },
    }
  );
}

function readGemini(document: unknown): z.input<typeof OAuthTokens> | undefined {
  const login = Gemini.safeParse(document).data;
  return (
    login && {
      tokenEndpoint: "https://oauth2.googleapis.com/token",
      issuer: "https://accounts.google.com",
      clientId: geminiClientId,
      scopes: login.scope.split(" ").filter((scope) => scope !== ""),
      accessToken: login.access_token,
      refreshToken: login.refresh_token,
      expiresAtMs: login.expiry_date,
    }
  );
}

/** A GitHub token that is not renewed: when GitHub ends it, a person logs in again. Its client id is not needed. */
function readCopilot(document: unknown): z.input<typeof OAuthTokens> | undefined {
  const config = Copilot.safeParse(document).data;
  const [key, accessToken] = config === undefined ? [] : pickToken(config);
  if (key === undefined || accessToken === undefined) return undefined;
  const host = /^(?:https:\/\/)?([a-z0-9.-]+)/i.exec(key)?.[1] ?? "github.com";
  return {
    tokenEndpoint: `https://${host}/login/oauth/access_token`,
    clientId: "",
    scopes: [],
    accessToken,
    extra: { host },
  };
}

/** Keys are `https://host:login`. The account that was used last, or the only one. */
function pickToken({ tokens, user }: z.infer<typeof Copilot>): [string, string] | [] {
  const entries = Object.entries(tokens);
  const last = user && entries.find(([key]) => key === `${user.host}:${user.login}`);
  return last ?? (entries.length === 1 ? entries[0]! : []);
}
