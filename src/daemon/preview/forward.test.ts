import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { PreviewGround } from "../../../test/support/preview-ground.ts";

let ground: PreviewGround;
beforeAll(async () => {
  ground = await PreviewGround.start();
});
afterAll(() => ground[Symbol.asyncDispose]());
beforeEach(() => ground.reset());

describe("an answer", () => {
  test("sets no cookie of the daemon's, none for other names, and leaves nothing behind", async () => {
    ground.answer = (_request, response) => {
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
        "content-security-policy":
          "img-src 'none'; report-uri http://evil.example/?data, font-src 'none';REPORT-TO evil",
        "content-security-policy-report-only": "img-src 'none'; report-uri http://evil.example/",
        "connection-allowlist": '("https://evil.example/*");webrtc=allow',
        "connection-allowlist-report-only": "()",
        "x-own": "kept",
      });
      response.end("x");
    };
    const { headers } = await ground.ask("/", { cookie: await ground.cookie() });
    expect(headers["set-cookie"]).toEqual(["id=7; Path=/; HttpOnly"]);
    expect(headers).toMatchObject({ "cache-control": "no-store", "x-own": "kept" });
    for (const name of [
      "service-worker-allowed",
      "alt-svc",
      "report-to",
      "content-security-policy-report-only",
      "connection-allowlist-report-only",
    ])
      expect(headers[name]).toBeUndefined();
    expect(headers["connection-allowlist"]).toBe(
      `(response-origin "ws://${ground.host()}/*");redirects=allow;webrtc=block`,
    );
    const [ours, theirs, more] = String(headers["content-security-policy"]).split(/, ?/);
    expect(ours).toContain(`connect-src 'self' ws://${ground.host()}`);
    expect([theirs, more?.trim()]).toEqual(["img-src 'none'", "font-src 'none'"]);
    expect(JSON.stringify(headers)).not.toContain("evil");
  });

  test("that redirects to the program itself comes back here", async () => {
    ground.answer = (request, response) =>
      void response.writeHead(302, { location: decodeURIComponent(request.url!.slice(1)) }).end();
    const own = await ground.cookie();
    const to = async (location: string) =>
      (await ground.ask(`/${encodeURIComponent(location)}`, { cookie: own })).headers.location;
    expect(await to(`http://localhost:${ground.port}/a?b#c`)).toBe(`http://${ground.host()}/a?b#c`);
    expect(await to("/a")).toBe("/a");
  });

  test("that redirects to another server becomes a page that shows where it leads", async () => {
    ground.answer = (request, response) =>
      void response.writeHead(302, { location: decodeURIComponent(request.url!.slice(1)) }).end();
    const own = await ground.cookie();
    for (const [location, shown] of [
      ["https://example.org/?a=1&b=<i>", "https://example.org/?a=1&amp;b=%3Ci%3E"],
      ["//example.org/x", "http://example.org/x"],
      ["/\\example.org/x", "http://example.org/x"],
      [`http://localhost:${ground.port + 1}/`, `http://localhost:${ground.port + 1}/`],
      [`http://${ground.host(ground.port, "other")}/`, `http://${ground.host(ground.port, "other")}/`],
    ] as const) {
      const { status, headers, text } = await ground.ask(`/${encodeURIComponent(location)}`, { cookie: own });
      expect([status, headers.location], location).toEqual([403, undefined]);
      expect(text).toContain(`href="${shown}"`);
      expect(headers["content-security-policy"]).toContain("default-src 'none'");
    }
    const odd = await ground.ask(`/${encodeURIComponent("javascript:alert(1)//<b>")}`, { cookie: own });
    expect(odd.text).not.toMatch(/href|<b>/);
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
      const host = ground.host(port);
      const claimed = await ground.claim(await ground.pass(port), { host, origin: `http://${host}` });
      const own = claimed.headers["set-cookie"]![0]!.split(";")[0]!;
      expect((await ground.ask("/", { host, cookie: own })).status, JSON.stringify(reply.slice(0, 80))).toBe(
        502,
      );
      await new Promise((resolve) => hostile.close(resolve));
      expect((await ground.ask("/", { host, cookie: own })).headers["agentbox-error"]).toBe("port.closed");
    }
  });

  test("that is cut short is cut short here", async () => {
    ground.answer = (_request, response) => {
      response.writeHead(200, { "content-length": 1000 });
      response.write("half", () => response.destroy());
    };
    await expect(ground.ask("/", { cookie: await ground.cookie() })).rejects.toThrow("aborted");
  });
});

describe("a WebSocket", () => {
  const dial = (headers: Record<string, string>) =>
    new WebSocket(`ws://127.0.0.1:${ground.webPort}/socket`, {
      headers: { host: ground.host(), ...headers },
    });
  const refused = async (socket: WebSocket) => ((await once(socket, "error")) as [Error])[0].message;

  test("goes through with the right cookie from its own page, and with nothing else", async () => {
    const own = await ground.cookie();
    const origin = `http://${ground.host()}`;
    const socket = dial({ cookie: own, origin });
    await once(socket, "open");
    socket.send("hi");
    expect(String((await once(socket, "message"))[0])).toBe("echo hi");
    socket.close();
    await once(socket, "close");
    expect(await refused(dial({ origin }))).toContain("403");
    expect(await refused(dial({ cookie: own }))).toContain("403");
    expect(await refused(dial({ cookie: own, origin: "http://evil.example" }))).toContain("403");
    expect(await refused(dial({ cookie: own, origin: `http://127.0.0.1:${ground.webPort}` }))).toContain(
      "403",
    );
    expect(
      await refused(dial({ cookie: own, origin, host: `p0-shop.localhost:${ground.webPort}` })),
    ).toContain("400");
  });

  test("ends with its holder", async () => {
    const socket = dial({ cookie: await ground.cookie(), origin: `http://${ground.host()}` });
    await once(socket, "open");
    const closed = once(socket, "close");
    socket.on("error", () => undefined);
    expect(socket.readyState).toBe(socket.OPEN);
    ground.endAll();
    await closed;
    expect(socket.readyState).toBe(socket.CLOSED);
  });
});
