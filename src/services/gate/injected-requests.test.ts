import type { IncomingMessage, ServerResponse } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { waitFor } from "../../base/wait-for.ts";
import { inject, placeholder, refuse, value } from "./fixtures/injection.fixture.ts";
import { type ManagedGround, get, managed, name, raw } from "./fixtures/managed-ground.fixture.ts";

describe("a request to a managed host", () => {
  it("goes out with the value, and comes back without it", async () => {
    await using world = await managed((request, response) => {
      const said = request.headers.authorization ?? "";
      response.writeProcessing();
      response.writeEarlyHints({ link: `<https://x.example/${value}>; rel=preload` });
      response.writeHead(200, `OK ${value}`, {
        "x-echo": said,
        trailer: "x-sum",
        "transfer-encoding": "chunked",
      });
      response.write("You said ");
      response.addTrailers({ "x-sum": value });
      response.end(said);
    });
    const answer = await raw(await world.open(), get("/v1?token=hush"));
    expect(world.seen[0]?.headers.authorization).toBe(`Bearer ${value}`);
    expect(answer).toMatch(/^HTTP\/1\.1 103 Early Hints\r\n.*rel=preload/);
    expect(answer).toContain("HTTP/1.1 200 OK\r\n");
    expect(answer).toContain("You said ");
    expect(answer.match(/\*{19}/g)).toHaveLength(4);
    expect(answer).not.toContain(value);
    const record = await world.fixture.waitForRecord();
    expect(record).toMatchObject({ verdict: "allow", status: 200, secret: "github", isInjected: true });
    expect(record.path).toBe("/v1?…");
    expect(world.fixture.records).toHaveLength(1);
  });

  it("is sent to the path that was prepared, and no record or denial has it", async () => {
    await using world = await managed((request) => request.socket.destroy());
    world.injection.decide = (request) => ({ ...inject(request), path: `${request.path}?key=${value}` });
    const answer = await raw(await world.open(), get("/q"));
    expect(world.seen[0]?.url).toBe(`/q?key=${value}`);
    expect(answer).toMatch(/^HTTP\/1\.1 502/);
    expect(answer).not.toContain(value);
    expect(JSON.stringify(world.fixture.records)).not.toContain(value);
    expect(world.fixture.records).toMatchObject([{ path: "/q", reason: "unreachable", secret: "github" }]);
  });

  it("is the same over HTTP/2", async () => {
    await using world = await managed();
    const secure = await world.open(["h2"]);
    const session = connectHttp2(`https://${name}`, { createConnection: () => secure });
    const ask = async (body: string) => {
      const stream = session.request({ ":method": "POST", ":path": "/v2", ":authority": name });
      let head: Record<string, unknown> = {};
      let text = "";
      stream.on("response", (one) => (head = one));
      stream.on("error", () => undefined);
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      for (const piece of body.match(/.{1,7}/g) ?? []) stream.write(piece);
      stream.end();
      await new Promise((resolve) => stream.once("close", resolve));
      return { head, text };
    };
    const { head, text } = await ask("hello over two");
    expect(world.seen[0]?.headers.authorization).toBe(`Bearer ${value}`);
    expect(head).toMatchObject({ ":status": 200, "x-echo": `Bearer ${"*".repeat(value.length)}` });
    expect(text).toContain('"body":"hello over two"');
    expect(JSON.stringify(head) + text).not.toContain(value);

    const denied = await ask(`in pieces: ${placeholder}`);
    expect(denied.head).toMatchObject({ ":status": 403 });
    expect(denied.text).toContain('"reason":"secret_misplaced"');
    session.destroy();
    expect(world.fixture.records).toMatchObject([
      { isInjected: true, verdict: "allow" },
      { verdict: "deny", reason: "secret_misplaced" },
    ]);
  });

  it("is not sent twice with another head when a kept connection was stale", async () => {
    await using world = await managed((_, response) => response.end("ok"));
    let prepared = 0;
    world.injection.decide = (request) => {
      const made = inject(request);
      return { ...made, headers: [...made.headers, "X-Use", String((prepared += 1))] };
    };
    expect(await raw(await world.open(), get("/1"))).toContain("200 OK");
    const { server } = world.server;
    // The kept connection closes at the moment it is used again.
    server.removeAllListeners("request");
    const uses: unknown[] = [];
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      uses.push(request.headers["x-use"]);
      if (uses.length === 1) request.socket.destroy();
      else response.end("again");
    });
    expect(await raw(await world.open(), get("/2"))).toContain("again");
    expect(uses).toEqual(["2", "2"]);
    expect(prepared).toBe(2);
    expect(world.fixture.records).toHaveLength(2);
  });

  it("shares its connection with one that gets nothing, and a revocation counts at once", async () => {
    await using world = await managed();
    const socket = await world.open();
    const next = async (path: string): Promise<string> => {
      const before = world.fixture.records.length;
      let text = "";
      const read = (chunk: Buffer): void => void (text += chunk.toString());
      socket.on("data", read);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
      await waitFor(
        "the record and the whole answer",
        () => world.fixture.records.length > before && /\}\s*$/.test(text),
      );
      socket.off("data", read);
      return text;
    };
    expect(await next("/with")).toContain("Bearer ***");
    world.injection.decide = () => ({ outcome: "pass", body: undefined });
    expect(await next("/without")).toContain("x-echo: none");
    world.injection.decide = () => refuse("secret_not_granted");
    world.fixture.gate.closeInjected("amber", "github");
    expect(await next("/revoked")).toContain('"reason":"secret_not_granted"');
    expect(world.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${value}`, undefined]);
    expect(world.seen[0]?.socket).toBe(world.seen[1]?.socket);
    expect(world.fixture.records.map(({ isInjected }) => isInjected)).toEqual([true, undefined, false]);
  });

  it("is not sent again on another connection when its secret is taken back", async () => {
    await using world = await managed((request, response) => {
      if (request.url !== "/waits") response.end("ok");
    });
    expect(await raw(await world.open(), get("/first"))).toContain("200 OK");
    const answer = raw(await world.open(), get("/waits"));
    await waitFor("the second request", () => world.seen[1]);
    world.fixture.gate.closeInjected("amber", "github");
    expect(await answer).toContain('"reason":"secret_not_granted"');
    expect(await raw(await world.open(), get("/last"))).toContain("200 OK");
    expect(world.seen.map(({ url }) => url)).toEqual(["/first", "/waits", "/last"]);
    expect(world.fixture.records.map(({ isInjected }) => isInjected)).toEqual([true, true, true]);
  });

  it("passes a redirect to elsewhere on, and follows it nowhere", async () => {
    await using world = await managed((_, response) => {
      response.writeHead(302, { location: `http://other.example.org/?t=${value}` }).end();
    });
    const answer = await raw(await world.open(), get("/"));
    expect(answer).toContain("302 Found");
    expect(answer).toContain(`http://other.example.org/?t=${"*".repeat(value.length)}`);
    expect(world.seen).toHaveLength(1);
    expect(world.fixture.records).toHaveLength(1);
  });

  it("drops trailers, in which nobody looks for placeholders", async () => {
    await using world = await managed();
    const head = `POST / HTTP/1.1\r\nHost: ${name}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
    const answer = await raw(await world.open(), `${head}2\r\nhi\r\n0\r\nX-Sum: ${placeholder}\r\n\r\n`);
    expect(answer).toContain('"body":"hi"');
    expect(answer).toContain('"trailers":{}');
  });

  it("is not sent with TRACE, which would send the value back", async () => {
    await using world = await managed();
    expect(await raw(await world.open(), get("/"))).toContain("200 OK");
    expect(await raw(await world.open(), get("/").replace("GET", "TRACE"))).toContain("wrong_method");
    expect(world.seen).toHaveLength(1);
    expect(world.injection.requests).toHaveLength(1);
  });
});

describe("a WebSocket", () => {
  const chatter = (world: ManagedGround): void => {
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    sockets.on("headers", (headers) => void headers.push(`x-echo: ${value}`));
    world.server.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      world.seen.push(request);
      sockets.handleUpgrade(request, socket, head, (peer) => {
        peer.send(`${request.headers.authorization}`);
        peer.on("message", (data) => peer.send(data));
      });
    });
  };
  const dial = async (world: ManagedGround) => {
    const secure = await world.open();
    const client = new WebSocket(`ws://${name}:${world.server.port}/ws`, { createConnection: () => secure });
    client.on("error", () => undefined);
    const heads: string[] = [];
    client.on("upgrade", ({ rawHeaders }) => void heads.push(rawHeaders.join(" ")));
    const heard: string[] = [];
    client.on("message", (data: Buffer) => void heard.push(data.toString()));
    const isClosed = new Promise<void>((resolve) => client.once("close", () => resolve()));
    await waitFor("the first message", () => heard[0]);
    return { client, heads, heard, isClosed };
  };

  it("gets the value in its request, and none of it back", async () => {
    await using world = await managed();
    chatter(world);
    const { client, heads, heard, isClosed } = await dial(world);
    expect(world.seen[0]?.headers.authorization).toBe(`Bearer ${value}`);
    client.send("and back");
    await waitFor("the second message", () => heard[1]);
    expect(heard).toEqual([`Bearer ${"*".repeat(value.length)}`, "and back"]);
    expect(heads.join()).toContain("*".repeat(value.length));
    expect(heads.join()).not.toContain(value);
    client.close();
    await isClosed;
    expect(await world.fixture.waitForRecord()).toMatchObject({
      status: 101,
      secret: "github",
      isInjected: true,
      verdict: "allow",
    });
  });

  it("is closed when its secret is taken back, and not for another's", async () => {
    await using world = await managed();
    chatter(world);
    const { client, heard, isClosed } = await dial(world);
    world.fixture.gate.closeInjected("amber", "npm");
    world.fixture.gate.closeInjected("other", "github");
    client.send("still here");
    await waitFor("the second message", () => heard[1]);
    world.fixture.gate.closeInjected("amber", "github");
    await isClosed;
    expect(world.fixture.records).toMatchObject([
      { verdict: "deny", reason: "secret_not_granted", secret: "github", isInjected: true, status: 101 },
    ]);
  });

  it("that got none stays when secrets are taken back", async () => {
    await using world = await managed();
    chatter(world);
    world.injection.decide = () => ({ outcome: "pass", body: undefined });
    const { client, heard, isClosed } = await dial(world);
    world.fixture.gate.closeInjected("amber");
    client.send("still here");
    await waitFor("the second message", () => heard[1]);
    expect(heard).toEqual(["undefined", "still here"]);
    client.close();
    await isClosed;
  });
});
