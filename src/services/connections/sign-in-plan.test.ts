import { describe, expect, it } from "vitest";
import { ConnectionPreset } from "../../contract/secret/connection.ts";
import { presets } from "./presets/index.ts";
import { planSignIn } from "./sign-in-plan.ts";

const spec = { secret: "x", clientId: "id", flow: "code" } as const;

describe("a preset", () => {
  it.each(presets.map((preset) => [preset.name, preset] as const))(
    "%s says all that is needed",
    (name, preset) => {
      expect(ConnectionPreset.parse(preset)).toEqual(preset);
      for (const url of [preset.authorizationEndpoint, preset.tokenEndpoint]) {
        expect(new URL(url).protocol).toBe("https:");
      }
      expect(preset.can.length).toBeGreaterThan(0);
      expect(preset.cannot.length).toBeGreaterThan(0);
      expect(planSignIn({ ...spec, preset: name })).toMatchObject({
        endpoints: { token: preset.tokenEndpoint },
        scopes: preset.scopes,
      });
      expect(() => planSignIn({ ...spec, preset: name, clientId: undefined })).toThrow(
        expect.objectContaining({ code: "input.invalid", hint: preset.registration }),
      );
    },
  );

  it("asks for a refresh token where that is a question of its own", () => {
    const asks = Object.fromEntries(
      presets.map(({ name, scopes, parameters }) => [name, { scopes, parameters }]),
    );
    expect(asks["atlassian"]).toMatchObject({
      parameters: { audience: "api.atlassian.com", prompt: "consent" },
      scopes: expect.arrayContaining(["offline_access"]) as string[],
    });
    expect(asks["google"]).toMatchObject({ parameters: { access_type: "offline", prompt: "consent" } });
    expect(asks["azure-devops"]?.scopes).toEqual([
      "499b84ac-1321-427f-aa17-267ca6975798/vso.code_write",
      "offline_access",
    ]);
    // A GitHub App has permissions, not scopes.
    expect(asks["github-app"]?.scopes).toEqual([]);
  });

  it("is found by its name, with a word about the nearest one", () => {
    expect(() => planSignIn({ ...spec, preset: "githubapp" })).toThrow(
      expect.objectContaining({ code: "input.invalid", hint: 'Did you mean "github-app"?' }),
    );
  });
});

describe("a request", () => {
  it.each(["state", "redirect_uri", "code_challenge", "Nonce", "response_type", "request"])(
    "may not set %s",
    (name) => {
      expect(
        planSignIn({ ...spec, preset: "google", parameters: { prompt: "none" } }).parameters,
      ).toMatchObject({
        prompt: "none",
        access_type: "offline",
      });
      expect(() => planSignIn({ ...spec, preset: "google", parameters: { [name]: "x" } })).toThrow(
        expect.objectContaining({ code: "input.invalid" }),
      );
    },
  );

  it("must say where to sign in, and where tokens are", () => {
    const authorizationEndpoint = "https://a.example/auth";
    const tokenEndpoint = "https://a.example/token";
    expect(planSignIn({ ...spec, authorizationEndpoint, tokenEndpoint }).endpoints).toMatchObject({
      token: tokenEndpoint,
    });
    expect(() => planSignIn(spec)).toThrow("are missing");
    expect(() => planSignIn({ ...spec, tokenEndpoint })).toThrow("are missing");
    expect(() => planSignIn({ ...spec, authorizationEndpoint })).toThrow("are missing");
    expect(() => planSignIn({ ...spec, flow: "device", preset: "atlassian" })).toThrow("are missing");
  });
});
