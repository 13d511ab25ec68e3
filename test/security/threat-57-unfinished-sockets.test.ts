/**
 * Threat 57: a connection to a server is used again although it still owes bytes of a request that was given up. The
 * server takes the head of the next request for them, a secret of the gate with it, and the body of that one runs as a
 * request that was never judged. Here the server answers early and does not close, whatever it is told.
 */
import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import {
  httpsServer,
  openGateFixture,
  readAll,
  rule,
  startTls,
} from "../../src/services/gate/fixtures/gate.fixture.ts";
import { fakeInjection, value } from "../../src/services/gate/fixtures/injection.fixture.ts";

const name = "api.example.org";
/** A server of the attacker's own: what is written there, the attacker can read. */
const notes = "/v1/accounts/mallory/notes";
const smuggled = `DELETE /v1/accounts/alice HTTP/1.1\r\nHost: ${name}\r\n\r\n`;

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headBytes: number;
  body: string;
}

/** The head as Node's client writes it. */
const headBytes = ({ method, url, rawHeaders }: IncomingMessage): number =>
  `${method} ${url} HTTP/1.1\r\n\r\n`.length +
  rawHeaders.reduce((sum, text) => sum + text.length + ": ".length, 0);

async function openWorld() {
  const seen: Seen[] = [];
  const connections = { count: 0 };
  const answer: RequestListener = (request, response) => {
    const { method = "", url = "", headers } = request;
    const one: Seen = {
      method,
      path: url,
      authorization: headers.authorization,
      headBytes: headBytes(request),
      body: "",
    };
    seen.push(one);
    response.shouldKeepAlive = true;
    response.setHeader("Connection", "keep-alive");
    request.on("data", (chunk: Buffer) => (one.body += chunk.toString("latin1")));
    const isEarly = url === notes;
    if (isEarly) response.end("noted");
    else request.on("end", () => response.end("done"));
  };
  const server = await httpsServer(name, answer);
  server.server.on("secureConnection", () => (connections.count += 1));
  const injection = fakeInjection(`${name}:${server.port}`);
  const fixture = await openGateFixture({ injection });
  fixture.setPolicy(rule(name, server.port, { methods: ["GET"] }));
  const open = async (protocol: "h2" | "http/1.1"): Promise<TLSSocket> =>
    await startTls(
      await fixture.open({ via: "tcp", host: name, port: server.port }),
      name,
      readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8"),
      [protocol],
    );
  return {
    seen,
    connections,
    fixture,
    open,
    /** The bytes that the server got, without those that only measure. */
    requests: () => seen.filter(({ path }) => path !== "/v1/size").map((one) => `${one.method} ${one.path}`),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function openSession(world: World): Promise<ClientHttp2Session> {
  const secure = await world.open("h2");
  const session = connectHttp2(`https://${name}`, { createConnection: () => secure });
  session.on("error", () => undefined);
  return session;
}

const attackHead = (length: number | undefined): Record<string, string> => ({
  ":method": "GET",
  ":path": notes,
  ":authority": name,
  ...(length === undefined ? {} : { "content-length": String(length) }),
});

type GiveUp = "no-error" | "cancel" | "session" | "end-short" | "destroy";

/** Asks, takes the early answer, and gives the rest of the request up in the way of `giveUp`. */
async function attackOverHttp2(world: World, length: number | undefined, giveUp: GiveUp): Promise<void> {
  const session = await openSession(world);
  const stream = session.request(attackHead(length), { endStream: false });
  stream.on("error", () => undefined);
  const closed = new Promise((resolve) => stream.once("close", resolve));
  const answered = new Promise((resolve) => stream.once("end", resolve));
  stream.resume();
  // Where the length is not known, a byte makes the request a body of its own.
  if (length === undefined) stream.write("x");
  await answered;
  if (giveUp === "no-error") stream.close(constants.NGHTTP2_NO_ERROR);
  else if (giveUp === "cancel") stream.close(constants.NGHTTP2_CANCEL);
  else if (giveUp === "end-short") stream.end();
  else if (giveUp === "destroy") stream.destroy();
  else session.destroy();
  await closed;
  session.destroy();
  // The gate has seen it, because it answers on another connection after this one.
  await world.fixture.waitForRecord(({ path }) => path === notes);
}

async function attackOverHttp1(world: World, length: number | undefined): Promise<void> {
  const secure = await world.open("http/1.1");
  const framing = length === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  secure.write(`GET ${notes} HTTP/1.1\r\nHost: ${name}\r\n${framing}\r\n\r\n`);
  await new Promise((resolve) => secure.once("data", resolve));
  secure.destroy();
  await world.fixture.waitForRecord(({ path }) => path === notes);
}

/** Another program of the same box, with a body that looks like a request. */
async function ask(world: World, path: string, body?: string): Promise<string> {
  const secure = await world.open("http/1.1");
  const framing = body === undefined ? "" : `Content-Length: ${body.length}\r\n`;
  secure.write(`GET ${path} HTTP/1.1\r\nHost: ${name}\r\n${framing}Connection: close\r\n\r\n${body ?? ""}`);
  return await readAll(secure);
}

/** How many bytes of the next request the attacker wants to be swallowed. */
async function measure(world: World): Promise<number> {
  await ask(world, "/v1/size", smuggled);
  return world.seen.find(({ path }) => path === "/v1/size")!.headBytes;
}

describe("a request that was given up", () => {
  it("has the controls: connections are kept, and a whole request over HTTP/2 arrives as it was judged", async () => {
    await using world = await openWorld();
    await ask(world, "/v1/a");
    await ask(world, "/v1/b");
    expect(world.connections.count).toBe(1);
    const session = await openSession(world);
    const stream = session.request(attackHead(smuggled.length), { endStream: false });
    stream.resume();
    stream.end(smuggled);
    await new Promise((resolve) => stream.once("close", resolve));
    session.destroy();
    expect(await ask(world, "/v1/c", smuggled)).toContain("done");
    expect(world.requests()).toEqual(["GET /v1/a", "GET /v1/b", `GET ${notes}`, "GET /v1/c"]);
    expect(world.seen.map(({ authorization }) => authorization)).toEqual(Array(4).fill(`Bearer ${value}`));
    expect(world.seen.at(-1)?.body).toBe(smuggled);
    // A body's use of another method is refused like a request with that method.
    const secure = await world.open("http/1.1");
    secure.write(smuggled);
    expect(await readAll(secure)).toContain('"reason":"wrong_method"');
    await world.fixture.waitForRecord(({ reason }) => reason === "wrong_method");
  });

  const ways = (["no-error", "cancel", "session", "end-short", "destroy"] as const).flatMap((giveUp) => [
    {
      what: `over HTTP/2 with a length (${giveUp})`,
      attack: (w: World, n: number) => attackOverHttp2(w, n, giveUp),
    },
    {
      what: `over HTTP/2 without one (${giveUp})`,
      attack: (w: World) => attackOverHttp2(w, undefined, giveUp),
    },
  ]);
  it.each([
    ...ways,
    { what: "over HTTP/1.1 with a length", attack: attackOverHttp1 },
    { what: "over HTTP/1.1 in chunks", attack: (w: World) => attackOverHttp1(w, undefined) },
  ])("leaves nothing to the next one $what", async ({ attack }) => {
    await using world = await openWorld();
    const length = await measure(world);
    // A connection is waiting to be used again, as it would be in a box that is at work.
    await ask(world, "/v1/warm");
    await attack(world, length);
    const answers = [await ask(world, "/v1/next", smuggled), await ask(world, "/v1/last")];
    expect(answers).toEqual([expect.stringContaining("done"), expect.stringContaining("done")]);
    expect(world.requests()).toEqual(["GET /v1/warm", `GET ${notes}`, "GET /v1/next", "GET /v1/last"]);
    // The secret stood where it is bound and nowhere else, so not among the notes of the attacker.
    for (const { body, authorization } of world.seen) {
      expect(body).not.toContain(value);
      expect(authorization).toBe(`Bearer ${value}`);
    }
    // Every request that the server saw was judged, once.
    const allowed = world.fixture.records.filter(
      ({ verdict, method }) => verdict === "allow" && method !== undefined,
    );
    const judged = allowed.map((one) => `${one.method} ${one.path}`);
    expect(judged).toEqual(world.seen.map((one) => `${one.method} ${one.path}`));
  });
});
