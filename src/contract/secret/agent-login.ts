/** Subscriptions of agents that boxes can use: what the vendor takes, and where. Nothing of a login is in a box. */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";

export interface AgentLogin {
  /** The built-in provider that it is used for. */
  readonly provider: string;
  /** Where the vendor takes it, when that is not where it takes keys. */
  readonly baseUrl?: string;
  /** The vendor's condition for every request: the header, and the fact of the login that it holds. */
  readonly headers: Readonly<Record<string, string>>;
  /** The command that makes a token for this purpose alone, where there is one. */
  readonly tokenCommand?: string;
}

export const agentLogins: Readonly<Record<string, AgentLogin>> = {
  claude: { provider: "anthropic", headers: {}, tokenCommand: "claude setup-token" },
  codex: {
    provider: "openai",
    baseUrl: "https://chatgpt.com/backend-api/codex",
    headers: { "chatgpt-account-id": "accountId" },
  },
};

/** Why those of others cannot be; it ends a sentence. */
const unusable: Readonly<Record<string, string>> = {
  gemini: "it is taken only by Google's Code Assist API, which is not the one that boxes speak",
  copilot: "GitHub takes it only from Copilot's own service, and boxes run Copilot with a model of yours",
  cursor: "Cursor takes it only from its own program, for models that only it reaches",
  qwen: "Qwen takes it at an address that each login names itself",
};

/** Before anything is read: what boxes cannot use is not taken either. */
export function requireUsableLogin(agent: string): void {
  if (Object.hasOwn(agentLogins, agent)) return;
  const problem = Object.hasOwn(unusable, agent) ? unusable[agent] : "it has none that is known";
  throw new AgentBoxError(
    "input.invalid",
    `The login of "${printable(agent)}" cannot be used by boxes: ${problem}.`,
    {
      hint: `Use a key: agentbox vault set NAME, and key = "vault:NAME" under [model.providers]. Logins: ${Object.keys(agentLogins).join(", ")}.`,
    },
  );
}

export const loginSecret = (agent: string): string => `login/${agent}`;

/** The agent whose login has this name. */
export const agentOfLogin = (secret: string): string | undefined =>
  Object.keys(agentLogins).find((agent) => loginSecret(agent) === secret);
