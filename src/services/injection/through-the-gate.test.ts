/** The injection and the gate together, with real programs' sockets on one side and real servers on the other. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { waitFor } from "../../base/wait-for.ts";
import type { SecretDestination } from "../../contract/secret/binding.ts";
import { silentLogger } from "../../host/logger.ts";
import {
  type TestServer,
  httpServer,
  httpsServer,
  openGateFixture,
  readAll,
  rule,
  startTls,
} from "../gate/fixtures/gate.fixture.ts";
import { openInjection } from "./index.ts";
import { binding, canary, destination, secretValue, tokenOf } from "./injection.fixture.ts";

const name = "api.example.org";
const other = "other.example.org";
const amber = { name: "amber", incarnation: "i1" };
const mask = "*".repeat(canary.length);
const token = tokenOf(binding(destination({ kind: "bearer" })), amber);

const tell: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { url, headers } = request;
    response.end(JSON.stringify({ url, headers, body: Buffer.concat(chunks).toString() }));
  });
};

async function ground(
  handle: RequestListener = tell,
  as: SecretDestination["as"] = { kind: "bearer" },
  serve: (handle: RequestListener) => Promise<TestServer> = (listener) => httpsServer(name, listener),
) {
  const seen: IncomingMessage[] = [];
  const server = await serve((request, response) => {
    seen.push(request);
    handle(request, response);
  });
  const grants = { isGranted: true };
  const injection = openInjection({
    logger: silentLogger,
    listener: {
      authorise: () => grants.isGranted,
      reveal: async () => secretValue(canary),
      revealAll: async () => [secretValue(canary)],
    },
  });
  injection.setBox(amber, [binding(destination(as, { port: server.port }))]);
  const fixture = await openGateFixture({ injection });
  fixture.setPolicy(rule(name, server.port), rule(other, server.port, { inspect: true }));
  const dial = async (host = name) => await fixture.open({ via: "tcp", host, port: server.port });
  const ca = (): string => readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8");
  return {
    server,
    seen,
    grants,
    fixture,
    dial,
    open: async (protocols: string[] = [], host = name) =>
      await startTls(await dial(host), host, ca(), protocols),
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
const get = (path: string, more = "", host = name): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;
const post = (body: string, host = name): string =>
  `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;

describe("through the gate", () => {
  it("an echo comes back masked, in whatever pieces it comes", async () => {
    await using world = await ground((request, response) => {
      const said = String(request.headers.authorization);
      const size = Number(request.url?.slice(1));
      response.setHeader("x-echo", said);
      const pieces = `<${said}|${Buffer.from(canary).toString("base64")}|${encodeURIComponent(canary)}>`;
      for (let at = 0; at < pieces.length; at += size) response.write(pieces.slice(at, at + size));
      response.end();
    });
    for (const size of [1, 2, 3, 7, 31, 64]) {
      const answer = await raw(await world.open(), get(`/${size}`, "Accept-Encoding: gzip\r\n"));
      expect(answer).toContain(`x-echo: Bearer ${mask}`);
      expect(answer).not.toContain(canary);
      expect(answer).not.toContain(Buffer.from(canary).toString("base64"));
      expect(answer).not.toContain(encodeURIComponent(canary));
    }
    expect(world.seen.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 6 }, () => `Bearer ${canary}`),
    );
    const injected = world.fixture.records.filter(
      ({ secret, isInjected }) => isInjected && secret === "github-token",
    );
    expect(injected).toHaveLength(6);
  });

  it("a packed answer is unpacked, an error is masked like any other, and no cookie comes", async () => {
    await using world = await ground((request, response) => {
      const isPacked = request.url === "/gzip";
      response.statusCode = isPacked ? 200 : 500;
      response.setHeader("set-cookie", "session=1");
      if (isPacked) response.setHeader("content-encoding", "gzip");
      response.end(isPacked ? gzipSync(`packed ${canary}`) : `Bad token ${canary}`);
    });
    const packed = await raw(await world.open(), get("/gzip"));
    expect(packed).toContain(`packed ${mask}`);
    expect(packed.toLowerCase()).not.toContain("content-encoding");
    const failed = await raw(await world.open(), get("/error"));
    expect(failed).toMatch(/^HTTP\/1\.1 500/);
    expect(failed).toContain(`Bad token ${mask}`);
    expect(packed + failed).not.toContain("session=1");
  });

  it("an answer that cannot be read does not come, nor does one that lies about its packing", async () => {
    await using world = await ground((request, response) => {
      response.setHeader("content-encoding", request.url === "/strange" ? "zstd" : "gzip");
      response.end(canary);
    });
    for (const path of ["/strange", "/lie"]) {
      const answer = await raw(await world.open(), get(path));
      expect(answer).not.toContain(canary);
    }
    expect(world.fixture.records.map(({ reason }) => reason)).toEqual([
      "secret_in_answer",
      "secret_in_answer",
    ]);
  });

  it("an injected query is in no record and no answer", async () => {
    await using world = await ground(tell, { kind: "query", name: "key" });
    const answer = await raw(await world.open(), get("/q?a=1"));
    expect(world.seen[0]?.url).toBe(`/q?a=1&key=${encodeURIComponent(canary)}`);
    expect(answer).not.toContain(encodeURIComponent(canary));
    expect(JSON.stringify(world.fixture.records)).not.toContain(encodeURIComponent(canary));
    expect(world.fixture.records).toMatchObject([{ path: "/q?…", isInjected: true }]);
  });

  it("plain HTTP to the same port gets nothing where the binding says https", async () => {
    await using world = await ground(tell, { kind: "bearer" }, httpServer);
    const answer = await raw(await world.dial(), get("/", "", `${name}:${world.server.port}`));
    expect(answer).toContain("200 OK");
    expect(world.seen[0]?.headers.authorization).toBeUndefined();
    const refused = await raw(
      await world.dial(),
      get("/", `Authorization: Bearer ${token}\r\n`, `${name}:${world.server.port}`),
    );
    expect(refused).toMatch(/^HTTP\/1\.1 403/);
    expect(world.seen).toHaveLength(1);
  });

  it("a placeholder is replaced as a credential and refused elsewhere", async () => {
    await using world = await ground();
    expect(await raw(await world.open(), get("/", `Authorization: token ${token}\r\n`))).toContain("200 OK");
    expect(world.seen[0]?.headers.authorization).toContain(canary);
    const elsewhere = [
      get(`/${token}`),
      get(`/?q=${token}`),
      get("/", `X-Note: ${token}\r\n`),
      post(`note=${token}`),
    ];
    for (const text of elsewhere)
      expect(await raw(await world.open(), text)).toContain('"reason":"secret_misplaced"');
    expect(await raw(await world.open(), get("/", "Authorization: Bearer own\r\n"))).toContain(
      '"reason":"foreign_credential"',
    );
    const atOther = get("/", `Authorization: Bearer ${token}\r\n`, other);
    expect(await raw(await world.open([], other), atOther)).toContain('"reason":"secret_misplaced"');
    expect(await raw(await world.open([], other), post(token, other))).toContain(
      '"reason":"secret_misplaced"',
    );
    expect(
      world.fixture.records.slice(1).every(({ isInjected, verdict }) => verdict === "deny" || !isInjected),
    ).toBe(true);
  });

  it("a placeholder in an HTTP/2 body is found across its frames", async () => {
    await using world = await ground();
    const secure = await world.open(["h2"]);
    const session = connectHttp2(`https://${name}`, { createConnection: () => secure });
    const ask = async (body: string): Promise<unknown> => {
      const stream = session.request({ ":method": "POST", ":path": "/", ":authority": name });
      stream.on("error", () => undefined).resume();
      let status: unknown;
      stream.on("response", (head) => (status = head[":status"]));
      for (const piece of body.match(/.{1,5}/g) ?? []) stream.write(piece);
      stream.end();
      await new Promise((resolve) => stream.once("close", resolve));
      return status;
    };
    expect(await ask("nothing")).toBe(200);
    expect(await ask(`note: ${token}`)).toBe(403);
    session.destroy();
    expect(world.fixture.records).toMatchObject([{}, { reason: "secret_misplaced", secret: "github-token" }]);
  });

  it("a grant that is taken back counts from the next request on", async () => {
    await using world = await ground();
    expect(await raw(await world.open(), get("/"))).toContain("200 OK");
    world.grants.isGranted = false;
    const answer = await raw(await world.open(), get("/"));
    expect(answer).toContain('"reason":"secret_not_granted"');
    expect(world.seen).toHaveLength(1);
  });

  it("a WebSocket is masked on its way back, and takes no placeholder", async () => {
    await using world = await ground();
    const heardByServer: string[] = [];
    const sockets = new WebSocketServer({ noServer: true });
    world.server.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) =>
      sockets.handleUpgrade(request, socket, head, (peer) => {
        peer.send(`hello ${String(request.headers.authorization)}`);
        peer.on("message", (data: Buffer) => void heardByServer.push(data.toString()));
      }),
    );
    const secure = await world.open();
    const client = new WebSocket(`ws://${name}:${world.server.port}/`, { createConnection: () => secure });
    client.on("error", () => undefined);
    const heard: string[] = [];
    client.on("message", (data: Buffer) => void heard.push(data.toString()));
    const isClosed = new Promise((resolve) => client.once("close", resolve));
    expect(await waitFor("the message of the server", () => heard[0])).toBe(`hello Bearer ${mask}`);
    client.send("fine");
    expect(await waitFor("the message of the box", () => heardByServer[0])).toBe("fine");
    client.send(`note ${token}`);
    await isClosed;
    expect(heardByServer).toEqual(["fine"]);
    const record = await world.fixture.waitForRecord();
    expect(record).toMatchObject({ reason: "secret_misplaced", secret: "github-token", status: 101 });
  });
});
