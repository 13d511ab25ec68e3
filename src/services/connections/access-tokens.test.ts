import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import { Browser } from "./browser.fixture.ts";
import { ProviderFixture, clientId, openBench } from "./provider.fixture.ts";

let fixture: ProviderFixture;
let bench: ReturnType<typeof openBench>;
const refreshes = () => fixture.count("POST /token refresh_token");
const token = () => bench.connections.accessToken("shop");
const kept = () => bench.keeper.tokens.get("shop")!;
/** Of the hour that a token lasts. */
const untilNearEnd = 3_570_000;
const untilOver = 3_601_000;

beforeEach(async () => {
  fixture = await ProviderFixture.open();
  bench = openBench();
  const { url } = await bench.connections.start({
    secret: "shop",
    issuer: fixture.issuer,
    clientId,
    scopes: ["openid", "code:write"],
    flow: "code",
  });
  await new Browser().agree(url!);
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

describe("a token", () => {
  it("is used as long as it lasts, and no service is asked", async () => {
    const first = kept().accessToken;
    bench.putForward(3_500_000);
    expect((await token()).value).toBe(first);
    expect(refreshes()).toBe(0);
  });

  it("is renewed in time, and so is the refresh token", async () => {
    const before = kept();
    bench.putForward(untilNearEnd);
    const { value } = await token();
    expect(value).not.toBe(before.accessToken);
    expect(kept().accessToken).toBe(value);
    expect(kept().refreshToken).not.toBe(before.refreshToken);
    // And the rotated one works, too.
    bench.putForward(untilOver);
    expect((await token()).value).not.toBe(value);
    expect(refreshes()).toBe(2);
  });

  it("is renewed once, however many ask", async () => {
    bench.putForward(untilOver);
    const values = await Promise.all(Array.from({ length: 20 }, token));
    expect(new Set(values.map(({ value }) => value)).size).toBe(1);
    expect(refreshes()).toBe(1);
    expect(bench.keeper.writes).toBe(2);
  });

  it("is handed out only after it was kept, and is not lost when that fails at first", async () => {
    bench.putForward(untilOver);
    bench.keeper.fault = new AgentBoxError("vault.failed", "The disk is full.");
    await expect(token()).rejects.toMatchObject({ code: "vault.failed" });
    await expect(token()).rejects.toMatchObject({ code: "vault.failed" });
    bench.keeper.fault = undefined;
    const { value } = await token();
    expect(kept().accessToken).toBe(value);
    expect(refreshes()).toBe(1);
  });
});

describe("a secret that changes while its token is being renewed", () => {
  it("stays removed", async () => {
    bench.putForward(untilOver);
    const renewing = token();
    bench.keeper.tokens.delete("shop");
    await expect(renewing).rejects.toMatchObject({ code: "secret.not_found" });
    expect(refreshes()).toBe(1);
    expect(bench.keeper.tokens.has("shop")).toBe(false);
    await expect(token()).rejects.toMatchObject({ code: "secret.not_found" });
  });

  it("stays what a person has signed in as meanwhile", async () => {
    bench.putForward(untilOver);
    const { expiresAtMs: _, ...before } = kept();
    const other = { ...before, accessToken: "of-another-account", refreshToken: "another" };
    const renewing = token();
    bench.keeper.tokens.set("shop", other);
    expect((await renewing).value).toBe("of-another-account");
    expect(kept()).toEqual(other);
    expect((await token()).value).toBe("of-another-account");
  });
});

describe("a service that is away", () => {
  it("does not matter while the token lasts", async () => {
    const { accessToken } = kept();
    bench.putForward(untilNearEnd);
    await fixture.goAway();
    expect((await token()).value).toBe(accessToken);
  });

  it("means no token once it has ended, and nothing is lost", async () => {
    const before = kept();
    bench.putForward(untilOver);
    await fixture.goAway();
    await expect(token()).rejects.toMatchObject({
      code: "secret.unavailable",
      hint: "Try again when the service answers.",
    });
    expect(kept()).toEqual(before);
  });

  it("is left alone for some seconds, and asked again after that", async () => {
    bench.putForward(untilOver);
    fixture.fault = 503;
    for (let i = 0; i < 5; i++) await expect(token()).rejects.toMatchObject({ code: "secret.unavailable" });
    expect(fixture.count("POST /token 503")).toBe(1);
    fixture.fault = undefined;
    await expect(token()).rejects.toMatchObject({ code: "secret.unavailable" });
    bench.putForward(6_000);
    expect((await token()).value).toBe(kept().accessToken);
  });
});

describe("a refusal", () => {
  const revoke = async () => {
    const answer = await fetch(`${fixture.issuer}/token/revocation`, {
      method: "POST",
      body: new URLSearchParams({ client_id: clientId, token: kept().refreshToken! }),
    });
    expect(answer.status).toBe(200);
  };

  it("ends the connection, says how to begin again, and deletes nothing", async () => {
    const before = kept();
    await revoke();
    bench.putForward(untilNearEnd);
    const error = await token().catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "secret.unavailable",
      hint: "Connect again: agentbox connect shop",
    });
    expect((error as Error).message).toContain("invalid_grant");
    expect(kept()).toEqual(before);
    for (const secret of [before.accessToken, before.refreshToken!]) {
      expect(JSON.stringify([(error as AgentBoxError).toBody(), (error as Error).cause])).not.toContain(
        secret,
      );
    }
    await expect(token()).rejects.toMatchObject({ code: "secret.unavailable" });
    expect(refreshes()).toBe(1);
  });

  it("is over when somebody has connected again", async () => {
    const before = kept();
    await revoke();
    bench.putForward(untilOver);
    await expect(token()).rejects.toMatchObject({ code: "secret.unavailable" });
    const again = {
      ...before,
      accessToken: "again",
      refreshToken: "again",
      expiresAtMs: before.expiresAtMs! * 2,
    };
    bench.keeper.tokens.set("shop", again);
    expect((await token()).value).toBe("again");
  });

  it("does not count when another process was first", async () => {
    const before = kept();
    bench.putForward(untilOver);
    const other = openBench();
    other.keeper.tokens.set("shop", before);
    other.putForward(untilOver);
    const { value } = await other.connections.accessToken("shop");
    // It has read the old tokens already when the other one writes the new ones.
    let reads = 0;
    bench.keeper.read = async () => (reads++ === 0 ? before : other.keeper.tokens.get("shop")!);
    expect((await token()).value).toBe(value);
    expect(bench.keeper.writes).toBe(1);
  });
});

it("a token without a way to renew it is used to its end, and no longer", async () => {
  const { refreshToken: _, ...rest } = kept();
  bench.keeper.tokens.set("shop", rest);
  bench.putForward(untilNearEnd);
  expect((await token()).value).toBe(rest.accessToken);
  bench.putForward(untilOver - untilNearEnd);
  await expect(token()).rejects.toMatchObject({
    code: "secret.unavailable",
    hint: "Connect again: agentbox connect shop",
  });
  expect(refreshes()).toBe(0);
});
