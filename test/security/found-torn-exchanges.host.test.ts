/**
 * Found by the differential fuzzer of threat 57 beside smuggling: requests behind others, and streams that are gone,
 * ended the daemon with an exception that nothing caught, and an answer that broke off was taken for a whole one.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2, constants } from "node:http2";
import type { Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gateLimits } from "../../src/services/gate/limits.ts";
import { waitFor } from "../../src/base/wait-for.ts";
import {
  type GateFixture,
  type TestServer,
  ended,
  httpsServer,
  openGateFixture,
  readAll,
  rule,
  startTls,
  tcpServer,
} from "../../src/services/gate/fixtures/gate.fixture.ts";
import { fakeInjection, inject } from "../../src/services/gate/fixtures/injection.fixture.ts";

const name = "api.example.org";
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** A gate that reads, and a server whose answers the test writes itself. */
async function openWorld() {
  const seen = new Map<Socket, string>();
  const server = await tcpServer((peer) => {
    seen.set(peer, "");
    peer.on("data", (chunk: Buffer) => void seen.set(peer, seen.get(peer) + chunk.toString("latin1")));
  });
  const fixture = await openGateFixture();
  fixture.setPolicy(rule(name, server.port, { methods: ["GET", "POST"] }));
  return {
    fixture,
    server,
    open: () => fixture.open({ via: "tcp", host: name, port: server.port }),
    /** The connection on which the server has read `text`, and all that it has read there. */
    reads: (text: string) => waitFor("its words", () => [...seen].find(([, read]) => read.includes(text))),
    /** How many connections have brought `text`. */
    count: (text: string) => [...seen.values()].filter((read) => read.includes(text)).length,
    readsAgain: (text: string) =>
      waitFor("it again", () => [...seen].filter(([, read]) => read.includes(text))[1]?.[0]),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      for (const peer of seen.keys()) peer.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

const head = (method: string, path: string, ...lines: string[]): string =>
  [`${method} ${path} HTTP/1.1`, `Host: ${name}`, ...lines, "", ""].join("\r\n");
const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];

describe("a request behind one that is still being answered", () => {
  it("control: is answered after it", async () => {
    await using world = await openWorld();
    const program = await world.open();
    program.write(head("GET", "/first") + head("GET", "/second", "Connection: close"));
    const [second] = await world.reads("GET /second");
    const [first] = await world.reads("GET /first");
    second.write(ok);
    first.write(ok);
    expect((await readAll(program)).split("HTTP/1.1 200 OK")).toHaveLength(3);
  });

  it("is refused where it asks for another protocol, and the gate goes on", async () => {
    await using world = await openWorld();
    const program = await world.open();
    program.write(head("GET", "/first") + head("GET", "/socket", ...upgrade));
    await world.fixture.waitForRecord(({ reason }) => reason === "malformed");
    await ended(program);
    const next = await world.open();
    next.write(head("GET", "/next", "Connection: close"));
    const [peer] = await world.reads("GET /next");
    peer.write(ok);
    expect(await readAll(next)).toContain("200 OK");
  });

  it("is refused where it asks a proxy for a tunnel", async () => {
    await using world = await openWorld();
    const { port } = world.server;
    const program = await world.fixture.open({ via: "proxy" });
    const first = `GET http://${name}:${port}/first HTTP/1.1\r\nHost: ${name}:${port}\r\n\r\n`;
    program.write(`${first}CONNECT ${name}:${port} HTTP/1.1\r\nHost: ${name}:${port}\r\n\r\n`);
    await world.fixture.waitForRecord(({ reason, method }) => reason === "malformed" && method === "CONNECT");
    await ended(program);
    expect(world.fixture.records.filter(({ method }) => method === "CONNECT")).toHaveLength(1);
  });

  it("is not told to go on in the middle of an answer", async () => {
    await using world = await openWorld();
    const program = await world.open();
    const post = head("POST", "/second", "Content-Length: 2", "Expect: 100-continue", "Connection: close");
    program.write(`${head("GET", "/first")}${post}hi`);
    const [second] = await world.reads("POST /second");
    const [first] = await world.reads("GET /first");
    second.write(
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n${ok}`,
    );
    await world.fixture.waitForRecord(({ path }) => path === "/second");
    first.write(ok);
    const answers = (await readAll(program)).split("HTTP/1.1 200 OK");
    expect(answers).toHaveLength(3);
    expect(answers[2]).not.toContain("HTTP/1.1");
    expect(answers[2]).toMatch(/\r\n\r\nok$/);
  });
});

describe("a request on a connection that was kept", () => {
  it("is sent again where the server had closed it, and not where the answer cannot be read", async () => {
    for (const [act, times] of [
      [(peer: Socket) => peer.destroy(), 2],
      [(peer: Socket) => peer.write(ok.replaceAll("\r\n", "\n")), 1],
    ] as const) {
      await using world = await openWorld();
      const first = await world.open();
      first.write(head("GET", "/first", "Connection: close"));
      const [peer] = await world.reads("GET /first");
      peer.write(ok);
      await readAll(first);
      const second = await world.open();
      second.write(head("GET", "/second", "Connection: close"));
      const [used] = await world.reads("GET /second");
      expect(used).toBe(peer);
      act(peer);
      if (times === 2) (await world.readsAgain("GET /second")).write(ok);
      expect(await readAll(second)).toContain(times === 2 ? "200 OK" : "HTTP/1.1 502");
      await world.fixture.waitForRecord(({ path }) => path === "/second");
      expect(world.count("GET /second")).toBe(times);
    }
  });
});

it("a request without a body has none at the server either", async () => {
  await using world = await openWorld();
  const program = await world.open();
  program.write(head("POST", "/empty", "Connection: close"));
  const [peer, seen] = await world.reads("\r\n\r\n");
  expect(seen).toContain("Content-Length: 0");
  expect(seen.toLowerCase()).not.toContain("chunked");
  expect(seen.endsWith("\r\n\r\n")).toBe(true);
  expect(seen).not.toContain("\r\n0\r\n");
  peer.write(ok);
  expect(await readAll(program)).toContain("ok");
});

describe("over HTTP/2", () => {
  async function openTls(fixture: GateFixture, server: TestServer) {
    const socket = await fixture.open({ via: "tcp", host: name, port: server.port });
    const ca = readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8");
    return await startTls(socket, name, ca, ["h2"]);
  }
  async function session(fixture: GateFixture, server: TestServer) {
    const secure = await openTls(fixture, server);
    const opened = connectHttp2(`https://${name}`, { createConnection: () => secure });
    opened.on("error", () => undefined);
    return opened;
  }
  const request = { ":method": "POST", ":path": "/x", ":authority": name };

  it("a request that ends with its head, and says so by its length, too, has one length at the server", async () => {
    const lengths: (readonly string[])[] = [];
    await using server = await httpsServer(name, ({ rawHeaders }, response) => {
      lengths.push(rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === "content-length"));
      response.end("ok");
    });
    await using fixture = await openGateFixture();
    fixture.setPolicy(rule(name, server.port, { methods: ["POST"] }));
    const opened = await session(fixture, server);
    for (const more of [{}, { "content-length": "0" }]) {
      const stream = opened.request({ ...request, ...more }, { endStream: true });
      const [head] = (await once(stream, "response")) as [{ ":status": number }];
      expect(head[":status"]).toBe(200);
      await once(stream.resume(), "close");
    }
    expect(lengths).toEqual([["0"], ["0"]]);
    opened.destroy();
  });

  it("an answer that broke off is an error, not a whole answer", async () => {
    await using server = await httpsServer(name, (_, response) => {
      response.writeHead(200);
      response.write("half");
      setImmediate(() => response.destroy());
    });
    await using fixture = await openGateFixture();
    fixture.setPolicy(rule(name, server.port, { methods: ["POST"] }));
    const opened = await session(fixture, server);
    const stream = opened.request(request);
    stream.on("error", () => undefined);
    stream.resume();
    stream.end();
    await new Promise((resolve) => stream.once("close", resolve));
    expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    opened.destroy();
  });

  it("a connection that its program has left makes room for another", async () => {
    await using server = await httpsServer(name, (_, response) => void response.end("ok"));
    await using fixture = await openGateFixture({ limits: { ...gateLimits, connectionsPerBox: 1 } });
    fixture.setPolicy(rule(name, server.port, { methods: ["POST"] }));
    const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let begun = 0;
    for (let i = 0; i < 3; i += 1) {
      const secure = await waitFor("a connection", () => openTls(fixture, server).catch(() => undefined));
      secure.write(Buffer.concat([Buffer.from(preface), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]));
      // The gate's settings: HTTP/2 has begun.
      await once(secure, "data");
      begun += 1;
      secure.end();
    }
    expect(begun).toBe(3);
  });

  it("is not sent with a secret when its program has gone before the secret was there", async () => {
    const asked: string[] = [];
    await using server = await httpsServer(name, ({ url }, response) => {
      asked.push(url ?? "");
      response.end("ok");
    });
    const injection = fakeInjection(`${name}:${server.port}`);
    let give: () => void = () => undefined;
    injection.decide = (outgoing) =>
      outgoing.path === "/x"
        ? new Promise((resolve) => {
            give = () => resolve(inject(outgoing));
          })
        : inject(outgoing);
    await using fixture = await openGateFixture({ injection });
    fixture.setPolicy(rule(name, server.port, { methods: ["POST"] }));
    const opened = await session(fixture, server);
    const stream = opened.request(request);
    stream.on("error", () => undefined);
    await waitFor("the request", () => injection.requests[0]);
    stream.close(constants.NGHTTP2_CANCEL);
    // Another stream of the session is answered after the reset has been read.
    const control = opened.request({ ...request, ":path": "/control" });
    control.end();
    await once(control, "response");
    control.resume();
    give();
    const record = await fixture.waitForRecord(({ path }) => path === "/x");
    expect(record).toMatchObject({ verdict: "deny", reason: "secret_not_granted" });
    expect(asked).toEqual(["/control"]);
    opened.destroy();
  });
});
