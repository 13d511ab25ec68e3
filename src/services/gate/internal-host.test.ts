import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { waitFor } from "../../base/wait-for.ts";
import type { GateBox, InternalHost } from "../../ports/gate.ts";
import { type GateFixture, ended, openGateFixture, readAll, rule } from "./fixtures/gate.fixture.ts";

const name = "inside.agentbox.internal";

class EchoHost implements InternalHost {
  readonly visits: { box: GateBox; url: string | undefined; body: string }[] = [];
  readonly #sockets = new WebSocketServer({ noServer: true });
  closed = 0;
  /** The action that replaces its answer. */
  answer: ((response: ServerResponse) => void) | undefined;

  serve(box: GateBox, request: IncomingMessage, response: ServerResponse): void {
    response.on("close", () => (this.closed += 1));
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      this.visits.push({ box, url: request.url, body: Buffer.concat(chunks).toString() });
      if (this.answer) return this.answer(response);
      response.writeHead(418, { "content-type": "text/plain" });
      response.write("four");
      response.end("teen");
    });
    // Late, like a host that has to ask a person first.
    setImmediate(() => request.resume());
  }

  upgrade(box: GateBox, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.visits.push({ box, url: request.url, body: "" });
    if (request.url === "/no") return void socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    this.#sockets.handleUpgrade(request, socket, head, (client) => {
      client.on("message", (data: Buffer) => client.send(`echo ${data.toString()}`));
    });
  }
}

async function openWorld() {
  const host = new EchoHost();
  const resolved: string[] = [];
  const fixture = await openGateFixture({
    internalHosts: new Map([[name, host]]),
    resolve: async (asked) => {
      resolved.push(asked);
      return ["127.0.0.1"];
    },
  });
  fixture.setPolicy(rule(name, 80, { inspect: true }));
  return { host, resolved, fixture, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

const post = (target: string): string =>
  `POST ${target} HTTP/1.1\r\nHost: ${name}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello`;

const direct = (fixture: GateFixture, port = 80) => fixture.open({ via: "tcp", host: name, port });

async function connectThrough(fixture: GateFixture) {
  const socket = await fixture.open({ via: "proxy" });
  socket.write(`CONNECT ${name}:80 HTTP/1.1\r\nHost: ${name}:80\r\n\r\n`);
  await new Promise((resolve) => socket.once("data", resolve));
  return socket;
}

describe("a host inside the gate", () => {
  const ways: readonly [
    way: string,
    open: (fixture: GateFixture) => ReturnType<typeof direct>,
    target: string,
  ][] = [
    ["a plain connection", direct, "/a/b?c=1"],
    [
      "the proxy, with an absolute target",
      (fixture) => fixture.open({ via: "proxy" }),
      `http://${name}/a/b?c=1`,
    ],
    ["the proxy, with CONNECT", connectThrough, "/a/b?c=1"],
  ];
  it.each(ways)("is served through %s, and recorded like any other", async (_, open, target) => {
    await using world = await openWorld();
    const socket = await open(world.fixture);
    socket.write(post(target));
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 418[^]*four[^]*teen/);
    expect(world.host.visits).toEqual([
      { box: { name: "amber", incarnation: "i1" }, url: "/a/b?c=1", body: "hello" },
    ]);
    expect(await world.fixture.waitForRecord()).toMatchObject({
      verdict: "allow",
      host: name,
      port: 80,
      method: "POST",
      path: "/a/b?…",
      status: 418,
      bytesOut: 5,
      bytesIn: 8,
    });
    expect(world.fixture.records).toHaveLength(1);
    expect(world.resolved).toEqual([]);
  });

  it("is judged: a box whose policy does not name it gets nothing", async () => {
    await using world = await openWorld();
    world.fixture.setPolicy(rule("other.example.org", 80));
    const socket = await direct(world.fixture);
    socket.write(post("/a"));
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 403/);
    expect(world.host.visits).toEqual([]);
    expect(world.fixture.records).toMatchObject([{ verdict: "deny", reason: "no_rule" }]);
  });

  it("is never looked up or dialed, whatever a program says first", async () => {
    await using world = await openWorld();
    world.fixture.setPolicy(rule(name, 80), rule(name, 443));
    const secure = await direct(world.fixture, 443);
    // The beginning of a TLS hello.
    secure.write(Buffer.from("16030100050100000100", "hex"));
    const other = await direct(world.fixture);
    other.write("SSH-2.0-x\r\n");
    await Promise.all([ended(secure), ended(other)]);
    await waitFor("two records", () => world.fixture.records.length === 2);
    expect(world.fixture.records.map((one) => one.verdict)).toEqual(["deny", "deny"]);
    expect(world.resolved).toEqual([]);
  });

  it("learns that the policy no longer allows what is under way", async () => {
    await using world = await openWorld();
    world.host.answer = (response) => void response.write("first");
    const socket = await direct(world.fixture);
    socket.write(post("/a"));
    await new Promise((resolve) => socket.once("data", resolve));
    world.fixture.setPolicy();
    await ended(socket);
    await waitFor("the host saw the end", () => world.host.closed === 1);
    expect(world.fixture.records).toMatchObject([{ verdict: "deny", reason: "no_rule", bytesIn: 5 }]);
  });

  it("learns that the program went away", async () => {
    await using world = await openWorld();
    world.host.answer = () => undefined;
    const socket = await direct(world.fixture);
    socket.write(post("/a"));
    await waitFor("the visit", () => world.host.visits[0]);
    socket.destroy();
    await waitFor("the host saw the end", () => world.host.closed === 1);
    expect(await world.fixture.waitForRecord()).toMatchObject({ verdict: "allow", bytesOut: 5 });
  });

  it("takes a WebSocket, and says in the record what it answered", async () => {
    await using world = await openWorld();
    const open = async (path: string) =>
      new WebSocket(`ws://${name}${path}`, {
        createConnection: () => socket,
      });
    let socket = await direct(world.fixture);
    const client = await open("/talk");
    client.on("open", () => client.send("hi"));
    const [said] = await new Promise<[Buffer]>((resolve) =>
      client.once("message", (data: Buffer) => resolve([data])),
    );
    expect(said.toString()).toBe("echo hi");
    client.close();
    expect(await world.fixture.waitForRecord()).toMatchObject({
      status: 101,
      path: "/talk",
      verdict: "allow",
    });
    socket = await direct(world.fixture);
    const refused = await open("/no");
    await new Promise((resolve) => refused.once("error", resolve));
    expect(await world.fixture.waitForRecord((one) => one.path === "/no")).toMatchObject({ status: 401 });
    expect(world.fixture.records[0]!.bytesIn).toBeGreaterThan(0);
    expect(world.resolved).toEqual([]);
  });

  it("closes a WebSocket that a new policy no longer allows", async () => {
    await using world = await openWorld();
    const socket = await direct(world.fixture);
    const client = new WebSocket(`ws://${name}/talk`, { createConnection: () => socket });
    await new Promise((resolve) => client.once("open", resolve));
    world.fixture.setPolicy();
    await new Promise((resolve) => client.once("close", resolve));
    expect(world.fixture.records).toMatchObject([{ verdict: "deny", reason: "no_rule", status: 101 }]);
  });
});
