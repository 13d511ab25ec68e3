/** Threat 41: an identity that is not checked. Each lie is told to a sign-in that succeeds without it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ConnectionState } from "../../contract/secret/connection.ts";
import { Browser } from "./browser.fixture.ts";
import { ProviderFixture, claimsOf, clientId, idToken, openBench } from "./provider.fixture.ts";

let fixture: ProviderFixture;
beforeAll(async () => {
  fixture = await ProviderFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
afterEach(() => {
  fixture.onTokenAnswer = (answer) => answer;
  fixture.onDiscovery = (document) => document;
});

type Claims = Record<string, unknown>;

async function signIn(onCallback?: (callback: URL) => void): Promise<ConnectionState & { kept: number }> {
  await using bench = openBench();
  const { id, url } = await bench.connections.start({
    secret: "shop",
    issuer: fixture.issuer,
    clientId,
    scopes: ["openid", "code:write"],
    flow: "code",
  });
  const callback = await new Browser().agreeUntilCallback(url!);
  onCallback?.(callback);
  await (await fetch(callback)).text();
  return { ...bench.connections.find(id)!, kept: bench.keeper.writes };
}

/** The provider answers with an id token of our making. */
function lie(change: (claims: Claims) => Claims, signedBy: "provider" | "stranger" = "provider"): void {
  fixture.onTokenAnswer = (answer) => ({
    ...answer,
    id_token: idToken(change(claimsOf(answer["id_token"])), signedBy),
  });
}

const refused = { state: "failed", kept: 0 };

describe("an id token", () => {
  it("is taken when nothing is wrong with it", async () => {
    lie((claims) => claims);
    expect(await signIn()).toMatchObject({ state: "connected", kept: 1 });
  });

  it("is refused when a stranger signed it", async () => {
    lie((claims) => claims, "stranger");
    expect(await signIn()).toMatchObject(refused);
  });

  it("is refused when it was changed after it was signed", async () => {
    fixture.onTokenAnswer = (answer) => {
      const [head, , signature] = String(answer["id_token"]).split(".");
      const claims = { ...claimsOf(answer["id_token"]), sub: "somebody else" };
      const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return { ...answer, id_token: [head, body, signature].join(".") };
    };
    expect(await signIn()).toMatchObject(refused);
  });

  it("is refused when nobody signed it", async () => {
    fixture.onTokenAnswer = (answer) => {
      const head = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
      return { ...answer, id_token: `${head}.${String(answer["id_token"]).split(".")[1]}.` };
    };
    expect(await signIn()).toMatchObject(refused);
  });

  const wrongClaims: Record<string, (claims: Claims) => Claims> = {
    "for another client": (claims) => ({ ...claims, aud: "another-client" }),
    "from another issuer": (claims) => ({ ...claims, iss: "https://accounts.example" }),
    "with another nonce": (claims) => ({ ...claims, nonce: "another" }),
    "without a nonce": (claims) => ({ ...claims, nonce: undefined }),
    "that has ended": (claims) => ({ ...claims, iat: 1_600_000_000, exp: 1_600_003_600 }),
  };
  it.each(Object.entries(wrongClaims))("is refused %s", async (_, change) => {
    lie(change);
    expect(await signIn()).toMatchObject(refused);
  });

  it("is asked for: an answer without one is refused", async () => {
    fixture.onTokenAnswer = (answer) => ({ ...answer, id_token: undefined });
    expect(await signIn()).toMatchObject(refused);
  });
});

describe("the issuer", () => {
  it("is compared in the answer (mix-up)", async () => {
    expect(
      await signIn((callback) => expect(callback.searchParams.get("iss")).toBe(fixture.issuer)),
    ).toMatchObject({
      state: "connected",
    });
    expect(
      await signIn((callback) => callback.searchParams.set("iss", "https://evil.example")),
    ).toMatchObject(refused);
    expect(await signIn((callback) => callback.searchParams.delete("iss"))).toMatchObject(refused);
  });

  it("is compared in the answer even where only endpoints are known", async () => {
    const states: string[] = [];
    // The issuer may have a path, as GitHub's has.
    for (const iss of [fixture.issuer, `${fixture.issuer}/login/oauth`, "https://evil.example"]) {
      await using bench = openBench();
      const { id, url } = await bench.connections.start({
        secret: "shop",
        authorizationEndpoint: `${fixture.issuer}/auth`,
        tokenEndpoint: `${fixture.issuer}/token`,
        clientId,
        scopes: ["code:write"],
        flow: "code",
      });
      const callback = await new Browser().agreeUntilCallback(url!);
      callback.searchParams.set("iss", iss);
      await fetch(callback);
      states.push(bench.connections.find(id)!.state);
    }
    expect(states).toEqual(["connected", "connected", "failed"]);
  });

  it("must be the one the document names", async () => {
    fixture.onDiscovery = (document) => ({ ...document, issuer: "https://evil.example" });
    await expect(signIn()).rejects.toMatchObject({ code: "connection.failed" });
  });

  it("is not asked without TLS, and may not send people to places without it", async () => {
    await using bench = openBench();
    const spec = { secret: "shop", clientId, flow: "code" } as const;
    await expect(
      bench.connections.start({ ...spec, issuer: "http://accounts.example" }),
    ).rejects.toMatchObject({ code: "connection.failed" });
    fixture.onDiscovery = (document) => ({
      ...document,
      authorization_endpoint: "http://accounts.example/auth",
    });
    await expect(bench.connections.start({ ...spec, issuer: fixture.issuer })).rejects.toMatchObject({
      code: "connection.failed",
    });
    fixture.onDiscovery = (document) => document;
    expect((await bench.connections.start({ ...spec, issuer: fixture.issuer })).state).toBe("waiting");
  });
});

it("a token that could end a header is not kept", async () => {
  fixture.onTokenAnswer = (answer) => ({ ...answer, access_token: "abc\r\nx-evil: 1" });
  expect(await signIn()).toMatchObject(refused);
  fixture.onTokenAnswer = (answer) => ({ ...answer, access_token: "abc" });
  expect(await signIn()).toMatchObject({ state: "connected" });
});
