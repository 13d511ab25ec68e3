import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConnectionSpec } from "../../contract/secret/connection.ts";
import { Browser } from "./browser.fixture.ts";
import {
  ProviderFixture,
  clientId,
  confidentialId,
  confidentialSecret,
  openBench,
} from "./provider.fixture.ts";

let fixture: ProviderFixture;
beforeAll(async () => {
  fixture = await ProviderFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const spec = (more: Partial<ConnectionSpec> = {}): ConnectionSpec => ({
  secret: "shop",
  issuer: fixture.issuer,
  clientId,
  scopes: ["openid", "code:write"],
  flow: "code",
  ...more,
});

/** A request as a stranger on this machine, or a web page, could send it. */
function ask(url: URL, options: { method?: string; host?: string; path?: string } = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const { port } = url;
    const sent = request({
      host: "127.0.0.1",
      port,
      method: options.method ?? "GET",
      path: options.path ?? `${url.pathname}${url.search}`,
      headers: { host: options.host ?? url.host },
      agent: false,
    });
    sent.once("response", (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    });
    sent.once("error", reject);
    sent.end();
  });
}

describe("signing in with a browser", () => {
  it("keeps the tokens, and says so to the person and to the asker", async () => {
    await using bench = openBench();
    const begun = await bench.connections.start(spec());
    expect(begun).toMatchObject({ state: "waiting", secret: "shop" });
    const url = new URL(begun.url!);
    expect(url.searchParams.get("code_challenge_method")).toBe("S256");
    expect(url.searchParams.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(url.searchParams.get(name)!.length).toBeGreaterThanOrEqual(43);
    }

    const page = await new Browser().agree(begun.url!);
    expect(page.status).toBe(200);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toContain("<h1>Connected</h1>");

    expect(bench.connections.find(begun.id)).toMatchObject({ state: "connected" });
    const kept = bench.keeper.tokens.get("shop")!;
    expect(kept).toMatchObject({
      tokenEndpoint: `${fixture.issuer}/token`,
      issuer: fixture.issuer,
      clientId,
      scopes: ["openid", "code:write"],
      dialect: "standard",
    });
    expect(kept.expiresAtMs! - Date.now()).toBeGreaterThan(3_500_000);
    expect(kept.refreshToken).toBeDefined();
    expect(await bench.connections.accessToken("shop")).toEqual({ value: kept.accessToken, extra: {} });
    // No request during a sign-in has a token in it.
    expect(JSON.stringify(bench.connections.find(begun.id))).not.toContain(kept.accessToken);
  });

  it("works with endpoints alone, and with a client that has a secret of its own", async () => {
    await using bench = openBench();
    bench.keeper.clientSecrets.set("app", confidentialSecret);
    const explicit = spec({
      issuer: undefined,
      authorizationEndpoint: `${fixture.issuer}/auth`,
      tokenEndpoint: `${fixture.issuer}/token`,
      scopes: ["code:write"],
      clientId: confidentialId,
      clientSecret: "app",
    });
    const { id, url } = await bench.connections.start(explicit);
    await new Browser().agree(url!);
    expect(bench.connections.find(id)).toMatchObject({ state: "connected" });
    // The name of the secret is kept, not the secret.
    expect(bench.keeper.tokens.get("shop")).toMatchObject({ clientSecret: "app", clientAuth: "post" });
    bench.putForward(3_590_000);
    await bench.connections.accessToken("shop");
    expect(bench.keeper.writes).toBe(2);

    bench.keeper.clientSecrets.set("app", "wrong");
    const second = await bench.connections.start(explicit);
    expect((await new Browser().agree(second.url!)).status).toBe(400);
    expect(bench.connections.find(second.id)).toMatchObject({
      state: "failed",
      message: "The service refused (invalid_client).",
    });
  });

  it("ends as a failure when the vault cannot keep what came", async () => {
    await using bench = openBench();
    const { AgentBoxError } = await import("../../base/errors.ts");
    bench.keeper.fault = new AgentBoxError("vault.locked", "The vault <b>is</b> locked.");
    const { id, url } = await bench.connections.start(spec());
    const page = await new Browser().agree(url!);
    expect(page.status).toBe(400);
    expect(await page.text()).toContain("The vault &lt;b&gt;is&lt;/b&gt; locked.");
    expect(bench.connections.find(id)).toMatchObject({
      state: "failed",
      message: "The vault <b>is</b> locked.",
    });
  });
});

describe("the callback", () => {
  it("takes nothing but the one right request, and that only once", async () => {
    await using bench = openBench();
    const { id, url } = await bench.connections.start(spec());
    const callback = await new Browser().agreeUntilCallback(url!);
    const wrongState = new URL(callback);
    wrongState.searchParams.set("state", "x".repeat(43));
    const twoStates = new URL(callback);
    twoStates.searchParams.append("state", "x");

    expect(await ask(wrongState)).toBe(404);
    expect(await ask(twoStates)).toBe(404);
    expect(await ask(callback, { host: `attacker.example:${callback.port}` })).toBe(404);
    expect(await ask(callback, { host: `localhost:${callback.port}` })).toBe(404);
    expect(await ask(callback, { method: "POST" })).toBe(404);
    expect(await ask(callback, { path: `/other${callback.search}` })).toBe(404);
    expect(await ask(callback, { path: "/callback" })).toBe(404);
    expect(bench.connections.find(id)).toMatchObject({ state: "waiting" });

    // The same address as it was sent works: the positive control.
    expect(await ask(callback)).toBe(200);
    expect(bench.connections.find(id)).toMatchObject({ state: "connected" });
    await expect(ask(callback)).rejects.toThrow("ECONNREFUSED");
    expect(bench.keeper.writes).toBe(1);
  });

  it("uses a code once, even when it arrives twice at the same time", async () => {
    await using bench = openBench();
    const { id, url } = await bench.connections.start(spec());
    const callback = await new Browser().agreeUntilCallback(url!);
    const before = fixture.count("POST /token authorization_code");
    const statuses = await Promise.allSettled([ask(callback), ask(callback), ask(callback)]);
    expect(statuses.filter((one) => one.status === "fulfilled" && one.value === 200)).toHaveLength(1);
    expect(fixture.count("POST /token authorization_code")).toBe(before + 1);
    expect(bench.connections.find(id)).toMatchObject({ state: "connected" });
  });

  it("refuses a code that was used elsewhere before", async () => {
    await using bench = openBench();
    const first = await bench.connections.start(spec());
    const used = await new Browser().agreeUntilCallback(first.url!);
    expect(await ask(used)).toBe(200);
    const second = await bench.connections.start(spec({ secret: "other" }));
    const { searchParams } = new URL(second.url!);
    const replayed = new URL(searchParams.get("redirect_uri")!);
    replayed.search = used.search;
    replayed.searchParams.set("state", searchParams.get("state")!);
    expect(await ask(replayed)).toBe(400);
    expect(bench.connections.find(second.id)).toMatchObject({
      state: "failed",
      message: "The service refused (invalid_grant).",
    });
    expect(bench.keeper.tokens.has("other")).toBe(false);
  });

  it("is gone after it was given up, and nothing is kept", async () => {
    await using bench = openBench();
    const { id, url } = await bench.connections.start(spec());
    const callback = await new Browser().agreeUntilCallback(url!);
    bench.connections.cancel(id);
    await expect(ask(callback)).rejects.toThrow("ECONNREFUSED");
    expect(bench.connections.find(id)).toMatchObject({
      state: "failed",
      message: "The sign-in was given up.",
    });
    expect(bench.keeper.writes).toBe(0);
  });

  it("gives way to a second sign-in for the same secret", async () => {
    await using bench = openBench();
    const first = await bench.connections.start(spec());
    const second = await bench.connections.start(spec());
    expect(bench.connections.find(first.id)).toMatchObject({ state: "failed" });
    await new Browser().agree(second.url!);
    expect(bench.connections.find(second.id)).toMatchObject({ state: "connected" });
  });
});
