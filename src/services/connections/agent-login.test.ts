import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import { readAgentLogin } from "./agent-login.ts";

const jwt = (claims: object) =>
  ["{}", JSON.stringify(claims), "signature"]
    .map((part) => Buffer.from(part).toString("base64url"))
    .join(".");

describe("the login of an agent", () => {
  it("of claude", () => {
    const text = JSON.stringify({
      claudeAiOauth: {
        accessToken: "sk-ant-oat01-a",
        refreshToken: "sk-ant-ort01-b",
        expiresAt: 1_800_000_000_000,
        scopes: ["user:inference", "user:profile"],
        subscriptionType: "max",
      },
    });
    expect(readAgentLogin("claude", text)).toEqual({
      tokenEndpoint: "https://platform.claude.com/v1/oauth/token",
      clientId: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
      clientAuth: "post",
      dialect: "json",
      scopes: ["user:inference", "user:profile"],
      accessToken: "sk-ant-oat01-a",
      refreshToken: "sk-ant-ort01-b",
      expiresAtMs: 1_800_000_000_000,
      extra: {},
    });
  });

  it("of codex, whose end is in the token", () => {
    const access = jwt({ exp: 1_800_000_000 });
    const tokens = { id_token: jwt({}), access_token: access, refresh_token: "r", account_id: "acc" };
    expect(readAgentLogin("codex", JSON.stringify({ OPENAI_API_KEY: null, tokens }))).toMatchObject({
      tokenEndpoint: "https://auth.openai.com/oauth/token",
      dialect: "json",
      accessToken: access,
      refreshToken: "r",
      expiresAtMs: 1_800_000_000_000,
      extra: { accountId: "acc" },
    });
  });

  it("of gemini", () => {
    const text = JSON.stringify({
      access_token: "ya29.a",
      refresh_token: "1//b",
      expiry_date: 1_800_000_000_000.5,
      scope: "openid https://www.googleapis.com/auth/cloud-platform",
    });
    expect(readAgentLogin("gemini", text)).toMatchObject({
      tokenEndpoint: "https://oauth2.googleapis.com/token",
      dialect: "standard",
      expiresAtMs: 1_800_000_000_000,
      scopes: ["openid", "https://www.googleapis.com/auth/cloud-platform"],
    });
  });

  it("of copilot, with the account that was used last", () => {
    const config = {
      copilotTokens: { "https://github.com:one": "gho_1", "https://github.com:two": "gho_2" },
      lastLoggedInUser: { host: "https://github.com", login: "two" },
    };
    const text = `// Managed automatically.\n${JSON.stringify(config)}`;
    expect(readAgentLogin("copilot", text)).toMatchObject({
      accessToken: "gho_2",
      extra: { host: "github.com" },
    });
    expect(readAgentLogin("copilot", `{"copilot_tokens":{"https://ghe.example:me":"gho_3"}}`)).toMatchObject({
      accessToken: "gho_3",
      extra: { host: "ghe.example" },
    });
    // Two accounts, and nothing that says which: not for us to guess.
    expect(() => readAgentLogin("copilot", JSON.stringify({ copilotTokens: config.copilotTokens }))).toThrow(
      "no login",
    );
  });
});

describe("a file that is no login", () => {
  const canary = "canary-7f3a";
  const bad = [
    "",
    canary,
    `{"claudeAiOauth": "${canary}"}`,
    `{"claudeAiOauth": {"accessToken": "", "refreshToken": "${canary}"}}`,
    `{"OPENAI_API_KEY": "${canary}"}`,
    `{"tokens": {"access_token": ["${canary}"]}}`,
    `{"access_token": {"${canary}": 1}}`,
    `{"copilotTokens": {"${canary}": 5}}`,
  ];

  it.each(["claude", "codex", "gemini", "copilot"])("of %s is refused without a word of it", (agent) => {
    for (const text of bad) {
      let error: unknown;
      try {
        readAgentLogin(agent, text);
      } catch (caught) {
        error = caught;
      }
      expect(error).toMatchObject({ code: "secret.invalid" });
      expect(JSON.stringify([(error as AgentBoxError).toBody(), (error as Error).cause ?? ""])).not.toContain(
        canary,
      );
    }
  });

  it("never is anything but a coded error, whatever it says", () => {
    fc.assert(
      fc.property(fc.constantFrom("claude", "codex", "gemini", "copilot"), fc.json(), (agent, text) => {
        try {
          readAgentLogin(agent, text);
        } catch (error) {
          expect(error).toMatchObject({ code: "secret.invalid" });
        }
      }),
    );
  });

  it("of an agent that is not known is refused", () => {
    expect(() => readAgentLogin("__proto__", "{}")).toThrow("cannot be taken over");
  });
});
