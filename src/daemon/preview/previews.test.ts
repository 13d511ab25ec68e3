import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { Box } from "../../contract/box.ts";
import type { Core } from "../../core/context.ts";
import { systemClock } from "../../host/clock.ts";
import { FixtureBox, removeBuild, until } from "../../services/link/box.fixture.ts";
import { Previews } from "./previews.ts";

/** A real supervisor, and previews of it behind a plain server; who is allowed is up to the test. */
let fixture: FixtureBox;
let program: Server;
let front: Server;
let previews: Previews;
let programPort: number;
let webPort: number;
let answer: Parameters<typeof createServer>[1];
const seen: IncomingMessage[] = [];
const events: { type: string; data: unknown }[] = [];
let isAllowed = true;
let ends: (() => void)[] = [];
let box = { name: "shop", incarnation: "one", state: { phase: "running" } } as unknown as Box;

const holder = {
  who: "owner",
  isAllowed: () => isAllowed,
  hold(end: () => void) {
    ends.push(end);
    return () => (ends = ends.filter((one) => one !== end));
  },
};

beforeAll(async () => {
  fixture = await FixtureBox.start();
  program = createServer((request, response) => {
    seen.push(request);
    void answer!(request, response as never);
  });
  const sockets = new WebSocketServer({ server: program });
  sockets.on("connection", (socket) => socket.on("message", (data: Buffer) => socket.send(`echo ${data}`)));
  program.listen(0, "127.0.0.1");
  await once(program, "listening");
  programPort = (program.address() as AddressInfo).port;
  const core = {
    ports: {
      clock: systemClock,
      store: { findBox: async (name: string) => (name === box.name ? box : undefined) },
    },
    live: new Map([["shop", { link: fixture.link }]]),
    getBox: async () => box,
    note: async (type: string, _box: Box, data: unknown) => void events.push({ type, data }),
    background: (_what: string, task: Promise<unknown>) => void task.catch(() => undefined),
  } as unknown as Core;
  previews = new Previews(core, {
    get port() {
      return webPort;
    },
    ensure: async () => undefined,
  });
  front = createServer((request, response) => {
    if (previews.owns(request)) void previews.answer(request, response);
    else response.writeHead(418).end("the dashboard");
  });
  front.on("upgrade", (request, socket, head) => previews.upgrade(request, socket, head));
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  webPort = (front.address() as AddressInfo).port;
});
afterAll(async () => {
  front.close().closeAllConnections();
  program.close().closeAllConnections();
  await fixture[Symbol.asyncDispose]();
  await removeBuild();
});
beforeEach(() => {
  answer = (_request, response) => void response.end("hello from the box");
  seen.length = 0;
  events.length = 0;
  isAllowed = true;
  box = { ...box, incarnation: "one" };
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

const hostOf = (port = programPort, name = "shop") => `p${port}-${name}.localhost:${webPort}`;

async function ask(
  path: string,
  headers: Record<string, string | string[]> = {},
  { method = "GET", body }: { method?: string; body?: string } = {},
): Promise<Answer> {
  const asked = httpRequest({
    port: webPort,
    host: "127.0.0.1",
    path,
    method,
    headers: { host: hostOf(), ...headers },
  });
  asked.end(body);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode!, headers: response.headers, text };
}

const passOf = async (port = programPort): Promise<string> =>
  new URL((await previews.openFor(holder, box, port)).url).hash.slice("#pass=".length);

const claim = (pass: string, headers: Record<string, string> = {}) =>
  ask(
    "/.agentbox/enter",
    { origin: `http://${hostOf()}`, "content-type": "application/json", ...headers },
    { method: "POST", body: JSON.stringify({ pass }) },
  );

async function cookie(): Promise<string> {
  const { status, headers } = await claim(await passOf());
  expect(status).toBe(200);
  const [value] = headers["set-cookie"]!;
  expect(value).toMatch(/^agentbox-preview=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/);
  return value!.split(";")[0]!;
}

describe("a pass", () => {
  test("opens one port of one box, once, and is written down", async () => {
    const page = await ask("/.agentbox/enter");
    expect(page).toMatchObject({ status: 200, headers: { "content-type": "text/html; charset=utf-8" } });
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'; script-src 'sha256-");
    const pass = await passOf();
    const first = await claim(pass);
    expect(first.status).toBe(200);
    expect(events).toEqual([{ type: "preview.opened", data: { port: programPort, by: "owner" } }]);
    expect((await claim(pass)).status).toBe(403);
    const [own] = first.headers["set-cookie"]![0]!.split(";");
    expect(await ask("/", { cookie: own! })).toMatchObject({ status: 200, text: "hello from the box" });
    // Nothing of it opens anything else.
    expect((await ask("/", { cookie: own!, host: hostOf(programPort + 1) })).status).toBe(403);
    expect((await ask("/", { cookie: own!, host: hostOf(programPort, "other") })).status).toBe(403);
    expect((await ask("/")).status).toBe(403);
    await until("the refusal is written down", () => events.some(({ type }) => type === "preview.refused"));
  });

  test("is not taken from another page, by GET, or for another place", async () => {
    const pass = await passOf();
    for (const headers of [
      { origin: "http://evil.example" },
      { origin: `http://127.0.0.1:${webPort}` },
      { "content-type": "text/plain" },
      { host: hostOf(programPort + 1), origin: `http://${hostOf(programPort + 1)}` },
    ])
      expect((await claim(pass, headers)).status, JSON.stringify(headers)).toBe(403);
    expect((await ask(`/.agentbox/enter?pass=${pass}`)).status).toBe(404);
    expect((await claim("x".repeat(5000))).status).toBe(413);
    expect((await claim(pass)).status).toBe(200);
  });

  test("ends with its holder and with its box", async () => {
    const own = await cookie();
    expect((await ask("/", { cookie: own })).status).toBe(200);
    isAllowed = false;
    expect((await ask("/", { cookie: own })).status).toBe(403);
    isAllowed = true;
    box = { ...box, incarnation: "two" };
    expect((await ask("/", { cookie: own })).status).toBe(404);
  });

  test("that ends takes what is open with it", async () => {
    answer = (_request, response) => void response.write("forever");
    const asked = httpRequest({
      port: webPort,
      path: "/",
      headers: { host: hostOf(), cookie: await cookie() },
    });
    asked.on("error", () => undefined);
    asked.end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    response.on("error", () => undefined).resume();
    const cut = new Promise((resolve) => response.on("close", resolve));
    for (const end of ends) end();
    await cut;
    expect(response.complete).toBe(false);
  });
});

describe("a request", () => {
  test("says by its Host alone where it goes, and in one form", async () => {
    const own = await cookie();
    const status = async (path: string, host: string | string[]) =>
      (await ask(path, { cookie: own, host })).status;
    expect(await status("/", hostOf())).toBe(200);
    const bad = [
      `p0-shop.localhost:${webPort}`,
      `p65536-shop.localhost:${webPort}`,
      `p99999-shop.localhost:${webPort}`,
      `p${programPort}-shop.localhost`,
      `p${programPort}-shop.localhost:1`,
      `p${programPort}-shop.localhost.:${webPort}`,
      `P${programPort}-shop.localhost:${webPort}`,
      `p${programPort}-SHOP.localhost:${webPort}`,
      `p${programPort}-169.254.169.254.localhost:${webPort}`,
      `p80-metadata.google.internal.localhost:${webPort}`,
      `p${programPort}--shop.localhost:${webPort}`,
      `p080-shop.localhost:${webPort}`,
      `x@p${programPort}-shop.localhost:${webPort}`,
      `.localhost:${webPort}`,
    ];
    for (const host of bad) expect(await status("/", host), host).toBe(400);
    for (const path of [
      "http://169.254.169.254/",
      `http://${hostOf()}/`,
      "/../x",
      "/a/..",
      "/%2e%2e/x",
      "/a/%2E./b",
      "*",
    ])
      expect(await status(path, hostOf()), path).toBe(400);
    // Anything that is no name of a preview is the dashboard's to refuse.
    expect(await status("/", "169.254.169.254")).toBe(418);
    expect(await status("/", `localhost:${webPort}`)).toBe(418);
    expect(seen).toHaveLength(1);
    const twice = connect(webPort, "127.0.0.1");
    twice.write(
      `GET / HTTP/1.1\r\nhost: ${hostOf()}\r\nhost: localhost:${webPort}\r\ncookie: ${own}\r\n\r\n`,
    );
    expect(String((await once(twice, "data"))[0])).toMatch(/^HTTP\/1.1 400 /);
    twice.destroy();
  });

  test("takes nothing of the daemon's with it, and says where it came from as the program knows itself", async () => {
    const own = await cookie();
    await ask("/x?y=1", {
      cookie: `theme=dark; ${own}; agentbox-session=secret; __Host-agentbox-x=1; id=7`,
      "agentbox-key": "secret",
      authorization: "Bearer abt_secret",
      origin: `http://${hostOf()}`,
      referer: `http://${hostOf()}/from`,
      "x-forwarded-for": "1.2.3.4",
      "x-forwarded-host": "metadata",
      forwarded: "host=metadata",
      connection: "close, x-hop",
      "x-hop": "1",
      "proxy-authorization": "secret",
      "x-own": "kept",
    });
    const { url, headers } = seen[0]!;
    expect(url).toBe("/x?y=1");
    expect(headers).toMatchObject({
      host: `localhost:${programPort}`,
      origin: `http://localhost:${programPort}`,
      referer: `http://localhost:${programPort}/from`,
      cookie: "theme=dark; id=7",
      "x-forwarded-host": hostOf(),
      "x-own": "kept",
    });
    expect(JSON.stringify(seen[0]!.rawHeaders)).not.toMatch(/secret|metadata|1\.2\.3\.4|x-hop|abt_/);
    await ask("/", { cookie: own, authorization: "Basic YTpi" });
    expect(seen[1]!.headers.authorization).toBe("Basic YTpi");
  });

  test("has a body of any kind", async () => {
    answer = async (request, response) => {
      let text = "";
      for await (const chunk of request) text += String(chunk);
      response.end(`${request.method} ${text}`);
    };
    const own = await cookie();
    const headers = { cookie: own, origin: `http://${hostOf()}` };
    expect((await ask("/", headers, { method: "POST", body: "a=b" })).text).toBe("POST a=b");
    const chunked = { ...headers, "transfer-encoding": "chunked" };
    expect((await ask("/", chunked, { method: "DELETE", body: "gone" })).text).toBe("DELETE gone");
    expect((await ask("/", { ...headers, origin: "http://evil.example" }, { method: "POST" })).status).toBe(
      403,
    );
    expect((await ask("/", headers, { method: "TRACE" })).status).toBe(405);
  });

  test("for a service worker is refused, because it would outlive the box", async () => {
    const own = await cookie();
    expect((await ask("/sw.js", { cookie: own })).status).toBe(200);
    expect((await ask("/sw.js", { cookie: own, "service-worker": "script" })).status).toBe(403);
  });
});

describe("an answer", () => {
  test("sets no cookie of the daemon's, none for other names, and leaves nothing behind", async () => {
    answer = (_request, response) => {
      response.writeHead(200, {
        "set-cookie": [
          "id=7; Path=/; Domain=localhost; HttpOnly",
          "agentbox-session=evil; Path=/",
          "AgentBox-Preview=evil",
          "__Secure-agentbox-x=1",
          "=agentbox-session=evil",
          "nameless",
        ],
        "cache-control": "public, max-age=31536000, immutable",
        "service-worker-allowed": "/",
        "alt-svc": 'h3=":443"',
        "report-to": "{}",
        "content-security-policy": "img-src 'none'",
        "x-own": "kept",
      });
      response.end("x");
    };
    const { headers } = await ask("/", { cookie: await cookie() });
    expect(headers["set-cookie"]).toEqual(["id=7; Path=/; HttpOnly"]);
    expect(headers).toMatchObject({ "cache-control": "no-store", "x-own": "kept" });
    for (const name of ["service-worker-allowed", "alt-svc", "report-to"])
      expect(headers[name]).toBeUndefined();
    const [ours, theirs] = String(headers["content-security-policy"]).split(", ");
    expect(ours).toContain(`connect-src 'self' ws://${hostOf()}`);
    expect(theirs).toBe("img-src 'none'");
  });

  test("that redirects to the program itself comes back here", async () => {
    answer = (request, response) =>
      void response.writeHead(302, { location: decodeURIComponent(request.url!.slice(1)) }).end();
    const own = await cookie();
    const to = async (location: string) =>
      (await ask(`/${encodeURIComponent(location)}`, { cookie: own })).headers.location;
    expect(await to(`http://localhost:${programPort}/a?b#c`)).toBe(`http://${hostOf()}/a?b#c`);
    expect(await to("/a")).toBe("/a");
    expect(await to("https://example.org/")).toBe("https://example.org/");
  });

  test("that is no HTTP is a 502, and the daemon goes on", async () => {
    const replies = [
      "this is no HTTP\r\n\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: evil\r\n\r\n",
      "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nx: \u0000\r\n\r\n",
      `HTTP/1.1 200 OK\r\nx: ${"x".repeat(64 * 1024)}\r\n\r\n`,
      "",
    ];
    for (const reply of replies) {
      const hostile = createTcpServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => socket.end(reply));
      }).listen(0, "127.0.0.1");
      await once(hostile, "listening");
      const { port } = hostile.address() as AddressInfo;
      const host = hostOf(port);
      const claimed = await claim(await passOf(port), { host, origin: `http://${host}` });
      const own = claimed.headers["set-cookie"]![0]!.split(";")[0]!;
      expect((await ask("/", { host, cookie: own })).status, JSON.stringify(reply.slice(0, 80))).toBe(502);
      await new Promise((resolve) => hostile.close(resolve));
      expect((await ask("/", { host, cookie: own })).headers["agentbox-error"]).toBe("port.closed");
    }
  });

  test("that is cut short is cut short here", async () => {
    answer = (_request, response) => {
      response.writeHead(200, { "content-length": 1000 });
      response.write("half", () => response.destroy());
    };
    await expect(ask("/", { cookie: await cookie() })).rejects.toThrow("aborted");
  });
});

describe("a WebSocket", () => {
  const dial = (headers: Record<string, string>) =>
    new WebSocket(`ws://127.0.0.1:${webPort}/socket`, { headers: { host: hostOf(), ...headers } });
  const refused = async (socket: WebSocket) => String(((await once(socket, "error")) as [Error])[0].message);

  test("goes through with the right cookie from its own page, and with nothing else", async () => {
    const own = await cookie();
    const origin = `http://${hostOf()}`;
    const socket = dial({ cookie: own, origin });
    await once(socket, "open");
    socket.send("hi");
    expect(String((await once(socket, "message"))[0])).toBe("echo hi");
    socket.close();
    await once(socket, "close");
    expect(await refused(dial({ origin }))).toContain("403");
    expect(await refused(dial({ cookie: own }))).toContain("403");
    expect(await refused(dial({ cookie: own, origin: "http://evil.example" }))).toContain("403");
    expect(await refused(dial({ cookie: own, origin: `http://127.0.0.1:${webPort}` }))).toContain("403");
    expect(await refused(dial({ cookie: own, origin, host: `p0-shop.localhost:${webPort}` }))).toContain(
      "400",
    );
  });

  test("ends with its holder", async () => {
    const socket = dial({ cookie: await cookie(), origin: `http://${hostOf()}` });
    await once(socket, "open");
    const closed = once(socket, "close");
    socket.on("error", () => undefined);
    for (const end of ends) end();
    await closed;
  });
});
