import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OAuthTokens } from "../../contract/secret/connection.ts";
import { openBench } from "./provider.fixture.ts";

const server = createServer();
let bench: ReturnType<typeof openBench>;
let tokens: OAuthTokens;

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  bench = openBench();
  tokens = {
    tokenEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/oauth/token`,
    clientId: "public",
    clientAuth: "post",
    scopes: ["user:inference"],
    accessToken: "old",
    refreshToken: "r1",
    expiresAtMs: Date.now() - 1_000,
    dialect: "json",
    extra: { accountId: "acc" },
  };
  bench.keeper.tokens.set("login/claude", tokens);
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

const token = () => bench.connections.accessToken("login/claude");

/** Answers the next request, and says what was in it. */
async function answer(status: number, body: string): Promise<{ type: string | undefined; body: unknown }> {
  const [request, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
  const sent = JSON.parse(await text(request)) as unknown;
  response.writeHead(status, { "content-type": "application/json" }).end(body);
  return { type: request.headers["content-type"], body: sent };
}

describe("a login that is refreshed with JSON", () => {
  it("sends a document, and keeps what comes back", async () => {
    const answered = answer(
      200,
      JSON.stringify({ access_token: "new", refresh_token: "r2", expires_in: 60 }),
    );
    expect(await token()).toEqual({ value: "new", extra: { accountId: "acc" } });
    expect(await answered).toEqual({
      type: "application/json",
      body: {
        grant_type: "refresh_token",
        refresh_token: "r1",
        client_id: "public",
        scope: "user:inference",
      },
    });
    expect(bench.keeper.tokens.get("login/claude")).toMatchObject({ refreshToken: "r2", dialect: "json" });
  });

  it.each([
    [401, { error: { code: "refresh_token_reused" } }, "refresh_token_reused"],
    [400, { error: "invalid_grant" }, "invalid_grant"],
    [400, { error: { type: "invalid_request_error" } }, "invalid_request_error"],
  ])("%i is a no, and a person has to log in again", async (status, body, code) => {
    void answer(status, JSON.stringify(body));
    const error = await token().catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "secret.unavailable",
      hint: "Log in again with claude on this host, then: agentbox login claude",
    });
    expect((error as Error).message).toContain(code);
    expect(bench.keeper.tokens.get("login/claude")).toEqual(tokens);
  });

  it.each([
    [500, "{}"],
    [429, "{}"],
    [200, "<html>a hotel's login page</html>"],
    [200, `{"access_token": "a b\\nc"}`],
    [302, ""],
  ])("%i %s is not taken for an answer", async (status, body) => {
    void answer(status, body);
    await expect(token()).rejects.toMatchObject({
      code: "secret.unavailable",
      hint: "Try again when the service answers.",
    });
    expect(bench.keeper.tokens.get("login/claude")).toEqual(tokens);
    bench.putForward(6_000);
    void answer(200, JSON.stringify({ access_token: "new" }));
    expect((await token()).value).toBe("new");
  });

  it("an answer without an end is cut off", async () => {
    server.once("request", (_, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(64 * 1024, "x");
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      more();
    });
    await expect(token()).rejects.toThrow("larger than any answer may be");
  });
});
