import { readFileSync } from "node:fs";
import { type IncomingMessage, type RequestListener, request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import {
  type GateFixture,
  ended,
  httpServer,
  httpsServer,
  openGateFixture,
  readAll,
  rule,
  startTls,
} from "./fixtures/gate.fixture.ts";

const name = "api.example.org";
const ownCa = (fixture: GateFixture): string => readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8");

const describeRequest: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    response.setHeader("x-server", "yes");
    response.end(
      JSON.stringify({
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        trailers: request.trailers,
      }),
    );
  });
};

async function inspected(handle: RequestListener = describeRequest, more: Parameters<typeof rule>[2] = {}) {
  const server = await httpsServer(name, handle);
  const fixture = await openGateFixture();
  fixture.setPolicy(rule(name, server.port, { inspect: true, ...more }));
  return {
    server,
    fixture,
    open: async (protocols: string[] = []) =>
      await startTls(
        await fixture.open({ via: "tcp", host: name, port: server.port }),
        name,
        ownCa(fixture),
        protocols,
      ),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const raw = async (socket: Socket, text: string): Promise<string> => {
  socket.write(text, "latin1");
  return await readAll(socket);
};
const get = (path: string, host = name): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

describe("requests that are read", () => {
  it("judges method and path of each, and records each without its query", async () => {
    await using world = await inspected(describeRequest, { methods: ["GET"], paths: ["/v1/**"] });
    const answer = await raw(await world.open(), get("/v1/things?token=hush"));
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).toContain('"url":"/v1/things?token=hush"');
    expect(answer.match(/set-cookie/g)).toHaveLength(2);
    expect(answer.toLowerCase()).not.toContain("x-agentbox");
    expect(await world.fixture.waitForRecord()).toMatchObject({
      verdict: "allow",
      method: "GET",
      path: "/v1/things?…",
      status: 200,
    });
    const wrongPath = await raw(await world.open(), get("/v2/things"));
    expect(wrongPath).toMatch(/^HTTP\/1\.1 403/);
    expect(wrongPath).toContain('"reason":"wrong_path"');
    const wrongMethod = await raw(await world.open(), get("/v1/x").replace("GET", "DELETE"));
    expect(wrongMethod).toContain('"reason":"wrong_method"');
    expect(world.fixture.records.map((one) => one.reason)).toEqual([undefined, "wrong_path", "wrong_method"]);
    expect(JSON.stringify(world.fixture.records)).not.toContain("hush");
  });

  it("streams a body and its trailers, and keeps the connection for the next request", async () => {
    await using world = await inspected();
    const socket = await world.open();
    const body = "5\r\nhello\r\n0\r\nX-Sum: 42\r\n\r\n";
    socket.write(
      `POST /up HTTP/1.1\r\nHost: ${name}\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n${body}`,
    );
    const answer = await raw(socket, get("/next"));
    expect(answer).toContain('"body":"hello"');
    expect(answer).toContain('"x-sum":"42"');
    expect(answer).toContain('"url":"/next"');
    expect(world.fixture.records).toMatchObject([{ bytesOut: 5, path: "/up" }, { path: "/next" }]);
  });

  it("removes what concerns the connection only", async () => {
    await using world = await inspected();
    const answer = await raw(
      await world.open(),
      get("/").replace(
        "Connection: close",
        "Connection: close, X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\nProxy-Authorization: no",
      ),
    );
    expect(answer).toContain('"x-end":"2"');
    expect(answer).not.toContain("x-hop");
    expect(answer).not.toContain("proxy-authorization");
  });

  it("passes 100-continue", async () => {
    await using world = await inspected();
    const socket = await world.open();
    socket.write(
      `POST / HTTP/1.1\r\nHost: ${name}\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n`,
    );
    const [first] = await new Promise<[Buffer]>((resolve) =>
      socket.once("data", (chunk: Buffer) => resolve([chunk])),
    );
    expect(first.toString()).toMatch(/^HTTP\/1\.1 100/);
    expect(await raw(socket, "hi")).toContain('"body":"hi"');
  });

  it("says that the server failed", async () => {
    await using world = await inspected((request) => request.socket.destroy());
    const answer = await raw(await world.open(), get("/"));
    expect(answer).toMatch(/^HTTP\/1\.1 502/);
    expect(answer).toContain("x-agentbox: failed");
    expect(world.fixture.records).toMatchObject([{ verdict: "deny", reason: "unreachable" }]);
  });

  it("breaks off where the server broke off", async () => {
    await using world = await inspected((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    const socket = await world.open();
    socket.write(get("/"));
    await ended(socket);
    expect(await world.fixture.waitForRecord()).toMatchObject({ reason: "unreachable", status: 200 });
  });

  it("does not trust a server with another name", async () => {
    await using server = await httpsServer("wrong.example.org", describeRequest);
    await using fixture = await openGateFixture();
    fixture.setPolicy(rule(name, server.port, { inspect: true }));
    const socket = await startTls(
      await fixture.open({ via: "tcp", host: name, port: server.port }),
      name,
      ownCa(fixture),
    );
    expect(await raw(socket, get("/"))).toMatch(/^HTTP\/1\.1 502/);
  });

  it("closes a request under way when a new policy no longer allows it", async () => {
    await using world = await inspected((_, response) => void response.write("first"));
    const socket = await world.open();
    socket.write(get("/"));
    await new Promise((resolve) => socket.once("data", resolve));
    world.fixture.setPolicy();
    await ended(socket);
    expect(world.fixture.records).toMatchObject([{ verdict: "deny", reason: "no_rule", status: 200 }]);
  });
});

describe("what has two readings is refused, and nothing reaches the server", () => {
  const cases: readonly [title: string, text: string, status: number][] = [
    ["another Host", get("/", "evil.example.org"), 421],
    ["another port in Host", get("/", `${name}:1`), 421],
    ["two Hosts", get("/").replace("Connection", `Host: ${name}\r\nConnection`), 400],
    ["no Host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["dot segments", get("/v1/../admin"), 400],
    ["encoded dot segments", get("/v1/%2e%2e/admin"), 400],
    ["dot segments behind an encoded slash", get("/v1/..%2fadmin"), 400],
    ["empty segments", get("//admin"), 400],
    ["absolute-form", get(`http://${name}/`), 400],
    [
      "both framings",
      `POST / HTTP/1.1\r\nHost: ${name}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      "two lengths",
      `POST / HTTP/1.1\r\nHost: ${name}\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc`,
      400,
    ],
    [
      "a strange transfer encoding",
      `POST / HTTP/1.1\r\nHost: ${name}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ["TRACE", get("/").replace("GET", "TRACE"), 403],
    ["a bare line feed in a header", `GET / HTTP/1.1\r\nHost: ${name}\nX: y\r\n\r\n`, 400],
    ["a space before the colon", `GET / HTTP/1.1\r\nHost : ${name}\r\n\r\n`, 400],
    [
      "a head that is too large",
      get("/").replace("Connection", `X-Big: ${"x".repeat(20_000)}\r\nConnection`),
      429,
    ],
  ];

  it("the same request in plain form passes", async () => {
    await using world = await inspected();
    expect(await raw(await world.open(), get("/v1/@scope%2fname"))).toMatch(/^HTTP\/1\.1 200/);
  });

  it.each(cases)("%s", async (_, text, status) => {
    let reached = 0;
    await using world = await inspected((request, response) => {
      reached += 1;
      describeRequest(request, response);
    });
    const answer = await raw(await world.open(), text);
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(reached).toBe(0);
    expect(world.fixture.records).toHaveLength(1);
    expect(world.fixture.records[0]).toMatchObject({ verdict: "deny" });
  });

  it("joins a folded header line into one, so that no two parsers disagree about it", async () => {
    await using world = await inspected();
    const answer = await raw(
      await world.open(),
      get("/").replace("Connection", "X-Fold: a\r\n b\r\nConnection"),
    );
    // Refused or unfolded; never sent on as it came.
    expect(answer).toMatch(/^HTTP\/1\.1 (?:400|200)/);
    expect(answer).not.toContain("a\\r\\n");
  });

  it("does not read what is not HTTP, and not without a name", async () => {
    await using world = await inspected();
    const text = await world.fixture.open({ via: "tcp", host: name, port: world.server.port });
    text.write("EHLO box\r\n");
    await ended(text);
    expect(world.fixture.records.at(-1)).toMatchObject({ reason: "not_http" });
    const socket = await world.fixture.open({ via: "tcp", host: name, port: world.server.port });
    await expect(startTls(socket, "", ownCa(world.fixture))).rejects.toThrow();
    expect(world.fixture.records.at(-1)).toMatchObject({ reason: "not_inspectable" });
  });

  it("records a handshake that fails", async () => {
    await using world = await inspected();
    await expect(world.open(["unknown"])).rejects.toThrow();
    expect(await world.fixture.waitForRecord()).toMatchObject({ reason: "not_inspectable" });
  });
});

describe("HTTP/2", () => {
  it("is read, judged and answered like HTTP/1.1", async () => {
    await using world = await inspected(describeRequest, { paths: ["/v1/**"] });
    const secure = await world.open(["h2"]);
    expect(secure.alpnProtocol).toBe("h2");
    const session = connectHttp2(`https://${name}`, { createConnection: () => secure });
    session.on("error", () => undefined);
    const ask = async (headers: Record<string, string | string[]>, body?: string) => {
      const stream = session.request({ ":authority": name, ...headers }, { endStream: body === undefined });
      if (body !== undefined) stream.end(body);
      let status = 0;
      let text = "";
      stream.on("response", (head) => (status = Number(head[":status"])));
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      await new Promise((resolve) => stream.once("close", resolve));
      return { status, text };
    };
    const posted = await ask(
      { ":method": "POST", ":path": "/v1/a?b=c", cookie: ["x=1", "y=2"], "content-type": "text/plain" },
      "hello",
    );
    expect(posted.status).toBe(200);
    expect(posted.text).toContain('"body":"hello"');
    expect(posted.text).toContain('"cookie":"x=1; y=2"');
    expect((await ask({ ":path": "/v2" })).status).toBe(403);
    expect((await ask({ ":path": "/v1/x", ":authority": "evil.example.org" })).status).toBe(421);
    expect((await ask({ ":path": "/v1/%2e%2e/x" })).status).toBeGreaterThanOrEqual(400);
    session.destroy();
    expect(world.fixture.records.map((one) => one.verdict)).toEqual(["allow", "deny", "deny", "deny"]);
  });
});

describe("plain HTTP", () => {
  it("is judged by request, directly and through the proxy", async () => {
    await using server = await httpServer(describeRequest);
    await using fixture = await openGateFixture();
    const host = `${name}:${server.port}`;
    fixture.setPolicy(rule(name, server.port, { paths: ["/v1/**"] }));
    const direct = () => fixture.open({ via: "tcp", host: name, port: server.port });
    expect(await raw(await direct(), get("/v1/a", host))).toContain('"url":"/v1/a"');
    expect(await raw(await direct(), get("/v2/a", host))).toMatch(/^HTTP\/1\.1 403/);
    const proxy = () => fixture.open({ via: "proxy" });
    expect(await raw(await proxy(), get(`http://${host}/v1/a?b`, host))).toContain('"url":"/v1/a?b"');
    expect(await raw(await proxy(), get(`http://${host}/v2/a`, host))).toMatch(/^HTTP\/1\.1 403/);
    expect(await raw(await proxy(), get("http://other.example.org/", "other.example.org"))).toContain(
      "no_rule",
    );
    expect(await raw(await proxy(), get(`http://${host}/v1/a`, "evil.example.org"))).toMatch(
      /^HTTP\/1\.1 421/,
    );
    expect(await raw(await proxy(), get(`http://u:p@${host}/v1/a`, host))).toMatch(/^HTTP\/1\.1 400/);
    expect(await raw(await proxy(), get("/v1/a", host))).toMatch(/^HTTP\/1\.1 400/);
    expect(fixture.records).toHaveLength(8);
    expect(JSON.stringify(fixture.records)).not.toContain("u:p");
  });

  it("is judged when it comes late or in pieces", async () => {
    await using server = await httpServer(describeRequest);
    await using fixture = await openGateFixture({ limits: { silenceMs: 10 } });
    fixture.setPolicy(rule(name, server.port));
    const socket = await fixture.open({ via: "tcp", host: name, port: server.port });
    for (const piece of ["G", "ET / HT", "TP/1.1\r\nHost: evil.example.org\r\n\r\n"]) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.write(piece);
    }
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 421/);
  });
});

it("passes a WebSocket through after judging its request", async () => {
  const sockets = new WebSocketServer({ noServer: true });
  await using world = await inspected(describeRequest, { paths: ["/socket"] });
  world.server.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) =>
    sockets.handleUpgrade(request, socket, head, (peer) => peer.on("message", (data) => peer.send(data))),
  );
  const secure = await world.open();
  const client = new WebSocket(`ws://${name}:${world.server.port}/socket`, {
    createConnection: () => secure,
  });
  await new Promise((resolve) => client.once("open", resolve));
  client.send("hello");
  const echoed = await new Promise((resolve) =>
    client.once("message", (data: Buffer) => resolve(data.toString())),
  );
  expect(echoed).toBe("hello");
  client.close();
  expect(await world.fixture.waitForRecord()).toMatchObject({
    verdict: "allow",
    status: 101,
    path: "/socket",
  });

  const secureDenied = await world.open();
  const denied = httpRequest({
    createConnection: () => secureDenied,
    path: "/other",
    headers: { host: name, connection: "Upgrade", upgrade: "websocket" },
  });
  denied.end();
  const answer = await new Promise<IncomingMessage>((resolve) => denied.once("response", resolve));
  expect(answer.statusCode).toBe(403);
});
