/**
 * Found by attack: a server that lets a request choose its answer's status and headers, as test and mock servers do,
 * says "101 Switching Protocols" without switching. The bytes after it were passed on unread, and were a request.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { decideSafely } from "../../src/core/policy/decide-egress.ts";
import { compile } from "../../src/core/policy/policy.fixture.ts";
import {
  type GateFixture,
  type TestServer,
  httpServer,
  openGateFixture,
  readAll,
} from "../../src/services/gate/fixtures/gate.fixture.ts";

const host = "api.example.org";
let server: TestServer;
let fixture: GateFixture;
const arrived: string[] = [];

beforeAll(async () => {
  server = await httpServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    arrived.push(`${request.method} ${pathname}`);
    const status = Number(/^\/status\/(\d{3})$/.exec(pathname)?.[1] ?? 200);
    response.writeHead(status, Object.fromEntries(searchParams)).end();
  });
  fixture = await openGateFixture({ decide: decideSafely });
  const rule = `host = "${host}"\nports = [${server.port}]\nmethods = ["GET"]\npaths = ["/status/**", "/socket"]`;
  fixture.setWholePolicy(compile({ project: `[[network.rules]]\n${rule}` }));
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const key = "dGhlIHNhbXBsZSBub25jZQ==";
/** The answer to the key, by RFC 6455. */
const accept = "s3pPLMBiTxaQ9kYGzzhZRbK%2BxOo=";
const switched = `Connection=Upgrade&Upgrade=websocket`;

async function ask(target: string, then: string): Promise<string> {
  const socket = await fixture.open({ via: "tcp", host, port: server.port });
  const head = [
    `GET ${target} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${key}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${then}`);
  return await readAll(socket);
}

it("what follows a 101 is no request that nobody judged", async () => {
  const hidden = `DELETE /things HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  expect(await ask("/status/204", "")).toMatch(/^HTTP\/1\.1 204 /);
  for (const query of [switched, `${switched}&Sec-WebSocket-Accept=${accept}`]) {
    arrived.length = 0;
    fixture.records.length = 0;
    const answer = await ask(`/status/101?${query}`, hidden);
    expect(arrived).toEqual(["GET /status/101"]);
    expect(answer).toMatch(/^HTTP\/1\.1 502 /);
    expect(fixture.records).toMatchObject([
      { verdict: "deny", reason: "unreachable", path: "/status/101?…" },
    ]);
  }
});

it("a server that does switch is passed through, and proves the program's own key", async () => {
  const sockets = new WebSocketServer({ noServer: true });
  const upgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void =>
    sockets.handleUpgrade(request, socket, head, (peer) =>
      peer.on("message", (said: Buffer) => peer.send(`heard ${said.toString()}`)),
    );
  server.server.on("upgrade", upgrade);
  const socket = await fixture.open({ via: "tcp", host, port: server.port });
  const client = new WebSocket(`ws://${host}:${server.port}/socket`, { createConnection: () => socket });
  await once(client, "open");
  client.send("hello");
  expect(String((await once(client, "message"))[0])).toBe("heard hello");
  client.terminate();
  server.server.off("upgrade", upgrade);
});
