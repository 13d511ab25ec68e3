import { once } from "node:events";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import { Browser } from "./browser.fixture.ts";
import { ProviderFixture, clientId, openBench } from "./provider.fixture.ts";

const realSetTimeout = setTimeout;
/** For what must not happen: long enough for a request on loopback that was sent. */
const realTime = (ms: number) =>
  new Promise<undefined>((resolve) => realSetTimeout(() => resolve(undefined), ms));

describe("with a code that is typed elsewhere", () => {
  let fixture: ProviderFixture;
  beforeAll(async () => {
    fixture = await ProviderFixture.open();
  });
  afterEach(() => {
    fixture.deviceSeconds = 600;
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const start = (bench: ReturnType<typeof openBench>) =>
    bench.connections.start({
      secret: "shop",
      issuer: fixture.issuer,
      clientId,
      scopes: ["openid", "code:write"],
      flow: "device",
    });
  const ended = (bench: ReturnType<typeof openBench>, id: string) =>
    waitFor("the end of the sign-in", () => {
      const state = bench.connections.find(id);
      return state?.state !== "waiting" && state;
    });

  it("connects once the person has agreed, and not before", async () => {
    await using bench = openBench();
    const begun = await start(bench);
    expect(begun.userCode).toMatch(/^[A-Z0-9-]{4,}$/);
    await waitFor("a first question", () => fixture.requests.some((one) => one.includes("device_code")));
    expect(bench.connections.find(begun.id)).toMatchObject({ state: "waiting" });
    expect((await new Browser().agree(begun.url!)).status).toBe(200);
    expect(await ended(bench, begun.id)).toMatchObject({ state: "connected" });
    expect((await bench.connections.accessToken("shop")).value).toBe(
      bench.keeper.tokens.get("shop")!.accessToken,
    );
  });

  it("fails when the person says no", async () => {
    await using bench = openBench();
    const { id, url } = await start(bench);
    await new Browser().decline(url!);
    expect(await ended(bench, id)).toMatchObject({
      state: "failed",
      message: "The person said no, or may not say yes.",
    });
    expect(bench.keeper.writes).toBe(0);
  });

  it("expires when nobody comes", async () => {
    fixture.deviceSeconds = 1;
    await using bench = openBench();
    const { id } = await start(bench);
    expect(await ended(bench, id)).toMatchObject({ state: "expired", message: "No person agreed in time." });
  });
});

describe("the pace", () => {
  const server = createServer();
  const asked = async () => ((await once(server, "request")) as [unknown, ServerResponse])[1];
  const send = (response: ServerResponse, fields: object) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(fields));
  let bench: ReturnType<typeof openBench>;
  let origin: string;

  beforeEach(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    bench = openBench();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await bench[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });

  async function begin() {
    const starting = bench.connections.start({
      secret: "shop",
      deviceEndpoint: `${origin}/device`,
      tokenEndpoint: `${origin}/token`,
      clientId,
      flow: "device",
    });
    send(await asked(), {
      device_code: "d",
      user_code: "ABCD-\u001b[31mEFGH",
      verification_uri: `${origin}/go`,
      expires_in: 900,
      interval: 2,
    });
    return starting;
  }

  /** Whether a question comes within so much time; the answer to give it. */
  async function question(ms: number): Promise<ServerResponse | undefined> {
    const coming = asked();
    // The answer before was read when a new wait has begun; the other timer is the end of the sign-in.
    await vi.waitUntil(() => vi.getTimerCount() > 1, { interval: 0 });
    await vi.advanceTimersByTimeAsync(ms);
    return Promise.race([coming, realTime(300)]);
  }

  it("is the service's, also when it says slow down, and when it sends errors as a success", async () => {
    const { id, userCode } = await begin();
    expect(userCode).toBe("ABCD-\\u{1b}[31mEFGH");
    send((await question(2_000))!, { error: "authorization_pending" });
    send((await question(2_000))!, { error: "slow_down" });
    expect(await question(6_900)).toBeUndefined();
    send((await question(100))!, { access_token: "t", token_type: "bearer", scope: "" });
    await vi.waitUntil(() => bench.connections.find(id)?.state !== "waiting", { interval: 0 });
    expect(bench.connections.find(id)).toMatchObject({ state: "connected" });
    expect(bench.keeper.tokens.get("shop")).toMatchObject({ accessToken: "t", scopes: [] });
  });

  it("ends when the sign-in was given up", async () => {
    const { id } = await begin();
    send((await question(2_000))!, { error: "authorization_pending" });
    await vi.waitUntil(() => vi.getTimerCount() > 1, { interval: 0 });
    bench.connections.cancel(id);
    expect(bench.connections.find(id)).toMatchObject({ state: "failed" });
    const coming = asked();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await Promise.race([coming, realTime(300)])).toBeUndefined();
    expect(vi.getTimerCount()).toBe(1);
  });
});
