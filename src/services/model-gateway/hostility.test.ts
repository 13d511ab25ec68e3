import { createHash, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect, createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import { makeCertificate } from "../gate/certificates/certificate.ts";
import type { ModelGatewayOptions } from "./index.ts";
import {
  type Ask,
  box,
  hello,
  openGatewayFixture,
  providersAt,
  realKey,
  sse,
  startFakeProvider,
  streamOf,
} from "./model-gateway.fixture.ts";

const ask: Ask = { path: "/anthropic/v1/messages", body: { model: "m", max_tokens: 9, stream: true } };

async function openWorld(options: Partial<ModelGatewayOptions> = {}) {
  const provider = await startFakeProvider();
  const fixture = await openGatewayFixture(provider.url, options);
  return {
    provider,
    fixture,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

const started = { type: "message_start", message: { usage: { input_tokens: 7, output_tokens: 1 } } };
const delta = { type: "content_block_delta", delta: { text: "x".repeat(100) } };
const ended = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } };

describe("a provider that", () => {
  it("answers nothing is given up in time, in the vendor's own words", async () => {
    await using world = await openWorld({ limits: { firstByteMs: 100 } });
    world.provider.answer = () => undefined;
    const reply = await world.fixture.ask(ask);
    expect(reply.status).toBe(502);
    expect(JSON.parse(reply.text)).toMatchObject({ type: "error", error: { type: "api_error" } });
    expect(reply.text).toContain("model.unavailable");
    expect(world.fixture.settled).toMatchObject([
      { outcome: { status: 502, hasAnswer: false, error: "model.unavailable" } },
    ]);
    expect(world.fixture.refused).toEqual([]);
  });

  it("stops in the middle is given up in time, and the program is not left waiting", async () => {
    await using world = await openWorld({ limits: { idleMs: 100 } });
    world.provider.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(started, delta));
    };
    const reply = await world.fixture.ask(ask);
    expect(reply).toMatchObject({ status: 200, isWhole: false });
    expect(world.fixture.settled).toMatchObject([
      {
        outcome: {
          hasAnswer: true,
          error: "model.unavailable",
          usage: { input: 7, output: 1, cached: 0, cacheWrite: 0, reasoning: 0 },
        },
      },
    ]);
  });

  it("cannot be reached is tried twice; where it is learns the log, not the box", async () => {
    await using world = await openWorld({ limits: { retryMs: 1 } });
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    world.fixture.setSpec({ providers: providersAt(`http://127.0.0.1:${port}`) });
    const reply = await world.fixture.ask(ask);
    expect(reply.status).toBe(502);
    expect(reply.text).not.toContain(String(port));
    expect(JSON.stringify(world.fixture.logged)).toContain(`127.0.0.1:${port}`);
    expect(world.fixture.settled).toMatchObject([
      { outcome: { hasAnswer: false, error: "model.unavailable" } },
    ]);
  });

  it("accepts and says nothing of TLS is given up in time", async () => {
    await using world = await openWorld({ limits: { retryMs: 1, connectMs: 100 } });
    const server = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    world.fixture.setSpec({ providers: providersAt(`https://127.0.0.1:${port}`) });
    expect((await world.fixture.ask(ask)).status).toBe(502);
    server.close();
  });

  it("has closed a kept connection is asked once more", async () => {
    await using world = await openWorld();
    await world.fixture.ask(ask);
    let broken = 0;
    world.provider.answer = (request, response) => {
      if (broken++ === 0) request.socket.destroy();
      else hello(request, response);
    };
    expect((await world.fixture.ask(ask)).status).toBe(200);
    expect(world.provider.seen).toHaveLength(3);
    expect(world.fixture.settled).toHaveLength(2);
    // On a connection of its own, what was sent may have been read: it is not sent again.
    await using other = await startFakeProvider((request) => request.socket.destroy());
    world.fixture.setSpec({ providers: providersAt(other.url) });
    expect((await world.fixture.ask(ask)).status).toBe(502);
    expect(other.seen).toHaveLength(1);
  });

  it("points elsewhere is not followed, and the key stays here", async () => {
    await using elsewhere = await startFakeProvider();
    await using world = await openWorld();
    world.provider.answer = (_, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/messages` }).end();
    };
    const reply = await world.fixture.ask(ask);
    expect(reply.status).toBe(502);
    expect(reply.headers["location"]).toBeUndefined();
    expect(elsewhere.seen).toEqual([]);
  });

  it("packs its answer although nobody asked: it passes, and its usage is unknown", async () => {
    await using world = await openWorld();
    const packed = gzipSync(sse(started, ended));
    world.provider.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      response.end(packed);
    };
    const reply = await world.fixture.ask(ask);
    expect(reply.headers["content-encoding"]).toBe("gzip");
    expect(reply.isWhole).toBe(true);
    expect(world.fixture.settled).toMatchObject([
      { outcome: { status: 200, hasAnswer: true, usage: undefined } },
    ]);
  });

  it("packs an error: its status passes, its text does not, because the key could be in it", async () => {
    await using world = await openWorld();
    world.provider.answer = (_, response) => {
      response.writeHead(401, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync(JSON.stringify({ error: realKey })));
    };
    expect(await world.fixture.ask(ask)).toMatchObject({ status: 401, text: "", isWhole: true });
  });

  it("answers with a page is passed on, and its usage is unknown", async () => {
    await using world = await openWorld();
    world.provider.answer = (_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<p>Log in");
    expect((await world.fixture.ask(ask)).text).toBe("<p>Log in");
    expect(world.fixture.settled).toMatchObject([{ outcome: { hasAnswer: true, usage: undefined } }]);
  });

  it("fails in the middle of a stream says so itself", async () => {
    await using world = await openWorld();
    world.provider.answer = streamOf(sse(started, { type: "error", error: { type: "overloaded_error" } }));
    await world.fixture.ask(ask);
    expect(world.fixture.settled).toMatchObject([
      { outcome: { error: "overloaded_error", usage: { input: 7 } } },
    ]);
  });

  it("sends an error without end is cut off", async () => {
    await using world = await openWorld({ limits: { errorBytes: 1_000 } });
    world.provider.answer = (_, response) => response.writeHead(500).end("x".repeat(100_000));
    expect((await world.fixture.ask(ask)).status).toBe(502);
  });

  it("switches to another protocol is given up", async () => {
    await using world = await openWorld();
    world.provider.answer = (request) =>
      void request.socket.end(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      );
    expect((await world.fixture.ask(ask)).status).toBe(502);
  });

  it("streams a lot passes byte for byte, with back pressure", async () => {
    await using world = await openWorld();
    const hash = createHash("sha256");
    const piece = Buffer.from(sse(delta).repeat(400));
    let left = 500;
    let bytes = 0;
    world.provider.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const send = (chunk: Buffer | string): boolean => {
        hash.update(chunk);
        return response.write(chunk);
      };
      send(sse(started));
      const more = (): void => {
        while (left-- > 0) {
          bytes += piece.length;
          if (!send(piece)) return void response.once("drain", more);
        }
        send(sse(ended));
        response.end();
      };
      more();
    };
    const answer = await world.fixture.open(ask);
    // The program does not read: what the provider can send meanwhile is bounded by buffers, not by its patience.
    const seen: number[] = [];
    await waitFor("no more bytes arrive", () => seen.push(bytes) > 20 && seen.at(-1) === seen.at(-20));
    expect(bytes).toBeGreaterThan(0);
    expect(left).toBeGreaterThan(100);
    const received = createHash("sha256");
    answer.on("data", (chunk: Buffer) => received.update(chunk));
    await once(answer, "end");
    expect(received.digest("hex")).toBe(hash.digest("hex"));
    expect(world.fixture.settled).toMatchObject([
      { outcome: { usage: { input: 7, output: 5 }, stop: "end" } },
    ]);
    expect(world.fixture.progressed).toBeLessThan(40);
  });

  it("proves its name with a certificate, or gets nothing", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const common = { publicKey, issuerPublicKey: publicKey, issuerPrivateKey: privateKey, issuerName: "ca" };
    const times = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 86_400_000 };
    const ca = makeCertificate({ ...common, ...times, commonName: "ca" });
    const cert = makeCertificate({ ...common, ...times, commonName: "localhost", dnsName: "localhost" });
    const key = privateKey.export({ type: "pkcs8", format: "pem" });
    const server = createHttps({ key, cert }, hello).listen(0, "127.0.0.1");
    await once(server, "listening");
    const providers = providersAt(`https://localhost:${(server.address() as AddressInfo).port}`);
    const withoutTrust = await openWorld({ limits: { retryMs: 1 } });
    const withTrust = await openWorld({ extraAuthorities: [ca] });
    for (const { fixture } of [withTrust, withoutTrust]) fixture.setSpec({ providers });
    expect((await withTrust.fixture.ask(ask)).status).toBe(200);
    expect((await withoutTrust.fixture.ask(ask)).status).toBe(502);
    await withTrust[Symbol.asyncDispose]();
    await withoutTrust[Symbol.asyncDispose]();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("is behind a company's proxy is reached through it", async () => {
    const asked: string[] = [];
    await using real = await startFakeProvider();
    const proxy = createHttp().listen(0, "127.0.0.1");
    proxy.on("connect", (request, socket) => {
      asked.push(`${request.url} ${request.headers["proxy-authorization"]}`);
      const upstream = connect(Number(new URL(real.url).port), "127.0.0.1");
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
      for (const one of [upstream, socket]) one.on("error", () => upstream.destroy());
    });
    await once(proxy, "listening");
    const upstreamProxy = `http://u:p@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await using world = await openWorld({ upstreamProxy });
    world.fixture.setSpec({ providers: providersAt("http://model.example.org") });
    expect((await world.fixture.ask(ask)).status).toBe(200);
    expect(asked).toEqual([`model.example.org:80 Basic ${Buffer.from("u:p").toString("base64")}`]);
    proxy.closeAllConnections();
    proxy.close();
  });
});

describe("a program that", () => {
  it("leaves takes its request back, and it is settled once with the estimate", async () => {
    await using world = await openWorld();
    let closed = 0;
    world.provider.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(started));
      response.on("close", () => (closed += 1));
    };
    const answer = await world.fixture.open(ask);
    await once(answer, "data");
    answer.destroy();
    await waitFor("the provider saw the end", () => closed === 1);
    const { outcome } = await waitFor("the settlement", () => world.fixture.settled[0]);
    // Not what was said when the answer began: a box could otherwise leave before every last word.
    expect(outcome).toMatchObject({ hasAnswer: true, usage: undefined, error: "client_closed" });
    expect(world.fixture.settled).toHaveLength(1);
  });

  it.each([
    ["before anything is answered", false],
    ["between the head of the answer and its first word", true],
  ])("leaves %s is settled with the estimate: the vendor is at work", async (_, hasHead) => {
    await using world = await openWorld();
    world.provider.answer = (_request, response) => {
      if (hasHead) response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    };
    const left = new AbortController();
    const opened = world.fixture.open({ ...ask, signal: left.signal }).catch(() => undefined);
    await waitFor("the first request", () => world.provider.seen[0]);
    if (hasHead) (await opened)?.destroy();
    else left.abort();
    const { outcome } = await waitFor("the settlement", () => world.fixture.settled[0]);
    expect(outcome).toMatchObject({ hasAnswer: true, usage: undefined, error: "client_closed" });
  });

  it("stops reading before the end is settled with the estimate, and not with how the answer began", async () => {
    await using world = await openWorld({ limits: { idleMs: 200 } });
    world.provider.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(started));
      for (let i = 0; i < 200; i += 1) response.write(sse({ ...delta, text: "x".repeat(100_000) }));
      response.end(sse(ended));
    };
    const answer = await world.fixture.open(ask);
    answer.on("error", () => undefined);
    const { outcome } = await waitFor("the settlement", () => world.fixture.settled[0]);
    expect(outcome).toMatchObject({ hasAnswer: true, usage: undefined, error: "model.unavailable" });
    answer.destroy();
  });

  it("nests deeper than can be written again is told so, and keeps nothing reserved", async () => {
    await using world = await openWorld();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const body = `{"model":"m","max_tokens":9,"x":${deep}}`;
    expect((await world.fixture.ask({ ...ask, body })).status).toBeGreaterThanOrEqual(400);
    expect(world.provider.seen).toEqual([]);
    expect(world.fixture.settled).toHaveLength(world.fixture.asked.length);
  });

  it("leaves while its budget is asked has sent nothing, and is settled", async () => {
    await using world = await openWorld();
    let isAborted = false;
    world.fixture.admit = (_, signal) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          isAborted = true;
          resolve({ outcome: "admitted", ticket: "late" });
        }),
      );
    const opened = world.fixture.open(ask).catch(() => undefined);
    await waitFor("the reservation", () => world.fixture.asked[0]);
    world.fixture.gateway.drop(box.name);
    await opened;
    const settled = await waitFor("the settlement", () => world.fixture.settled[0]);
    expect(isAborted).toBe(true);
    expect(settled).toMatchObject({ ticket: "late", outcome: { hasAnswer: false, error: "client_closed" } });
    expect(world.provider.seen).toEqual([]);
  });

  it("is dropped with its box loses what it has open", async () => {
    await using world = await openWorld();
    world.provider.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(started));
    };
    const answer = await world.fixture.open(ask);
    answer.on("error", () => undefined);
    await once(answer, "data");
    const closed = new Promise((resolve) => answer.once("close", resolve));
    world.fixture.gateway.drop(box.name);
    await closed;
    const settled = await waitFor("the settlement", () => world.fixture.settled[0]);
    expect(settled.outcome).toMatchObject({ error: "client_closed" });
  });
});
