/**
 * Threats 17, 18 and 19, the web port: a page whose name points here, another page's WebSocket, and a change by a link or a
 * form. Every check is made for requests, for the event stream and for WebSockets, because one that skips it is enough.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import {
  asPage,
  ask,
  askRaw,
  everyRoute,
  openSocket,
  signIn,
  type WebSession,
} from "../support/web-client.ts";
import { emptyBox } from "./attack.ts";

const box = "page-box";
const attach = `/v1/boxes/${box}/exec`;
const json = { "content-type": "application/json" };

describe("the web port", () => {
  let daemon: TestDaemon;
  let owner: WebSession;

  beforeAll(async () => {
    daemon = await startDaemon();
    await emptyBox(daemon, box);
    owner = await signIn(daemon);
  });
  afterAll(async () => daemon[Symbol.asyncDispose]());

  const refusals = async (reason: string): Promise<unknown[]> => {
    const { events } = await daemon.client.listEvents({ type: "access.refused", limit: 1000 });
    return events.filter(({ data }) => data["reason"] === reason);
  };

  /** The three ways in, each as a page of the owner would use it but for these headers. */
  const threeWays = async (headers: Readonly<Record<string, string>>): Promise<number[]> => {
    const socketAsk = asPage(owner, attach);
    const socket = await openSocket({ ...socketAsk, headers: { ...socketAsk.headers, ...headers } });
    if (typeof socket !== "number") socket.terminate();
    const all = { ...owner.headers, ...headers };
    return [
      (await ask({ port: owner.port, path: "/v1/boxes", headers: all })).status,
      (await ask({ port: owner.port, path: "/v1/events?follow=true", headers: all })).status,
      typeof socket === "number" ? socket : 101,
    ];
  };

  describe("17: names that point here", () => {
    it("answers to its own names", async () => {
      for (const name of ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
        expect(await threeWays({ host: `${name}:${owner.port}` })).toEqual([200, 200, 101]);
    });

    it.each([
      "attacker.test",
      "attacker.test:PORT",
      "localhost.attacker.test:PORT",
      "127.0.0.1.attacker.test:PORT",
      "localhost",
      "127.0.0.1",
      "127.0.0.1:1",
      "127.0.0.1:PORT:PORT",
      "localhost.:PORT",
      "127.1:PORT",
      "2130706433:PORT",
      "0.0.0.0:PORT",
      "user@localhost:PORT",
      "localhost:PORT@attacker.test",
      "localhost:PORT,attacker.test",
    ])("does not answer to %j", async (name) => {
      const host = name.replaceAll("PORT", String(owner.port));
      expect(await threeWays({ host })).toEqual([403, 403, 403]);
      // Nor its page, nor the way to a session.
      expect((await ask({ port: owner.port, path: "/", headers: { host } })).status).toBe(403);
      const claim = { port: owner.port, method: "POST", path: "/auth/claim", body: '{"code":"x"}' };
      expect((await ask({ ...claim, headers: { ...json, host } })).code).toBe("access.forbidden");
    });

    it("does not answer to two names at once, nor to a whole address", async () => {
      const own = `127.0.0.1:${owner.port}`;
      const credentials = `Cookie: agentbox-session=${owner.cookie}\r\nagentbox-key: ${owner.key}\r\n`;
      const send = (target: string, hosts: string) =>
        askRaw(owner.port, `GET ${target} HTTP/1.1\r\n${hosts}${credentials}Connection: close\r\n\r\n`);
      expect(await send("/v1/me", `Host: ${own}\r\n`)).toContain(" 200 ");
      for (const hosts of [
        "Host: \r\n",
        `Host: ${own}\r\nHost: attacker.test\r\n`,
        `Host: attacker.test\r\nHost: ${own}\r\n`,
        `Host: ${own}\r\nHost: ${own}\r\n`,
      ])
        expect(await send("/v1/me", hosts)).toMatch(/ 40[03] /);
      for (const target of [
        "http://attacker.test/v1/me",
        `http://${own}/v1/me`,
        "//attacker.test/v1/me",
        "/\\attacker.test/v1/me",
        "*",
      ])
        expect(await send(target, `Host: ${own}\r\n`)).toMatch(/ 400 /);
      expect(await askRaw(owner.port, `GET /v1/me HTTP/1.0\r\n${credentials}\r\n`)).toMatch(/ 40[03] /);
    });

    it("writes down who was refused", async () => {
      expect((await refusals("host")).length).toBeGreaterThan(0);
    });
  });

  describe("18: pages of others", () => {
    it("opens a terminal for its own page only", async () => {
      const page = asPage(owner, attach);
      const status = async (change: object): Promise<number> => {
        const socket = await openSocket({ ...page, ...change });
        if (typeof socket === "number") return socket;
        // The key must not stand in the answer.
        expect(socket.protocol).toBe("agentbox");
        socket.terminate();
        return 101;
      };
      const { origin, cookie } = page.headers as Record<string, string>;
      expect(await status({})).toBe(101);
      for (const foreign of [
        "http://attacker.test",
        "null",
        `http://127.0.0.1:${owner.port + 1}`,
        `https://127.0.0.1:${owner.port}`,
        `http://p3000-${box}.localhost:${owner.port}`,
        `${origin}.attacker.test`,
        `${origin}/`,
      ])
        expect(await status({ headers: { origin: foreign, cookie } }), foreign).toBe(403);
      // No Origin: a program, which has no business with a cookie.
      expect(await status({ headers: { cookie } })).toBe(403);
      expect(await status({ headers: { origin } })).toBe(401);
      expect(await status({ protocols: ["agentbox"] })).toBe(401);
      expect(await status({ protocols: [] })).toBe(401);
      expect(await status({ protocols: [`key.${owner.key}`] })).toBe(401);
      expect(await status({ protocols: ["agentbox", `key.${"A".repeat(43)}`] })).toBe(401);
      // A key in the address is no key.
      expect(await status({ path: `${attach}?key=${owner.key}`, protocols: ["agentbox"] })).toBe(401);
      expect((await refusals("origin")).length).toBeGreaterThan(0);
    });

    it("answers a foreign Origin on no way in, and shares nothing with it", async () => {
      for (const origin of ["http://attacker.test", "null", `http://localhost:${owner.port + 1}`])
        expect(await threeWays({ origin })).toEqual([403, 403, 403]);
      const asked = await ask({
        port: owner.port,
        method: "OPTIONS",
        path: "/v1/boxes",
        headers: { origin: "http://attacker.test", "access-control-request-method": "POST" },
      });
      expect(asked.status).toBe(403);
      for (const { headers } of [
        asked,
        await ask({ port: owner.port, path: "/v1/me", headers: owner.headers }),
      ])
        expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    });

    it("takes no token from a page", async () => {
      const { value } = await daemon.client.createToken({ name: "page", scopes: ["read", "work"] });
      const bearer = { authorization: `Bearer ${value}` };
      expect((await ask({ port: owner.port, path: "/v1/boxes", headers: bearer })).status).toBe(200);
      const fromPage = { ...bearer, origin: owner.origin };
      expect((await ask({ port: owner.port, path: "/v1/boxes", headers: fromPage })).status).toBe(403);
      const socket = await openSocket({ port: owner.port, path: attach, headers: bearer });
      expect(typeof socket).toBe("object");
      if (typeof socket !== "number") socket.terminate();
      expect(await openSocket({ port: owner.port, path: attach, headers: fromPage })).toBe(403);
    });
  });

  describe("19: changes that nobody asked for", () => {
    const phase = async (): Promise<string> => (await daemon.client.getBox(box)).box.state.phase;

    it("takes a change from its own page only, on every route that makes one", async () => {
      const changes = everyRoute(box).filter(({ method }) => method !== "GET");
      expect(changes.length).toBeGreaterThan(40);
      const post = async (one: (typeof changes)[number], headers: Readonly<Record<string, string>>) =>
        (
          await ask({
            port: owner.port,
            method: one.method,
            path: one.path,
            headers,
            body: one.method === "POST" ? "{}" : undefined,
          })
        ).status;
      const cookie = owner.headers["cookie"] ?? "";
      for (const one of changes) {
        const named = `${one.method} ${one.path}`;
        // A form of another page: the browser adds the cookie and says where it comes from.
        const form = { cookie, "content-type": "application/x-www-form-urlencoded" };
        expect(await post(one, { ...form, origin: "http://attacker.test" }), named).toBe(403);
        expect(await post(one, { ...form, "sec-fetch-site": "cross-site" }), named).toBe(403);
        expect(await post(one, { ...form, "sec-fetch-site": "same-site" }), named).toBe(403);
        expect(await post(one, form), named).toBe(401);
        expect(await post(one, { cookie, "content-type": "text/plain" }), named).toBe(401);
        // Even with the key: only what no form can send.
        for (const type of ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"])
          expect(await post(one, { ...owner.headers, "content-type": type }), named).toBe(400);
      }
      expect(await phase()).toBe("running");
      // The control: the same from its own page.
      const stop = { port: owner.port, method: "POST", path: `/v1/boxes/${box}/pause`, body: "{}" };
      const done = await ask({ ...stop, headers: { ...owner.headers, ...json, origin: owner.origin } });
      expect(done.status).toBe(200);
      expect(await phase()).toBe("paused");
      await daemon.client.resumeBox(box);
    });

    it("changes nothing by a GET, on any route", async () => {
      const before = await daemon.client.listEvents({ limit: 1, order: "newest" });
      const boxes = await daemon.client.listBoxes();
      const records = await daemon.client.listTokens();
      const gets = everyRoute(box).filter(({ method, isSocket }) => method === "GET" && !isSocket);
      expect(gets.length).toBeGreaterThan(40);
      for (const { path, name } of gets) {
        const asked = path.includes("?") ? path : `${path}?command=touch%20/tmp/x&force=true&follow=false`;
        const { status } = await ask({ port: owner.port, path: asked, headers: owner.headers });
        expect([401, 403], name).not.toContain(status);
      }
      const { events } = await daemon.client.listEvents({ after: before.lastId, limit: 1000 });
      expect(events.map(({ type }) => type)).toEqual([]);
      expect((await daemon.client.listBoxes()).map(({ name, phase: now }) => [name, now])).toEqual(
        boxes.map(({ name, phase: was }) => [name, was]),
      );
      expect((await daemon.client.listTokens()).length).toBe(records.length);
    });

    it("claims nothing by a GET, and no address of the page does anything", async () => {
      const { url } = await daemon.client.openLink();
      const code = url.split("#link=")[1] ?? "";
      for (const path of [`/auth/claim?code=${code}`, `/?link=${code}`, `/auth/claim/${code}`]) {
        const answer = await ask({ port: owner.port, path });
        expect(answer.headers["set-cookie"]).toBeUndefined();
      }
      const form = { "content-type": "application/x-www-form-urlencoded" };
      const claim = { port: owner.port, method: "POST", path: "/auth/claim" };
      expect((await ask({ ...claim, headers: form, body: `code=${code}` })).status).toBe(400);
      const foreign = { ...json, origin: "http://attacker.test" };
      const body = JSON.stringify({ code });
      expect((await ask({ ...claim, headers: foreign, body })).status).toBe(403);
      // The control: nothing of that has used it up.
      const taken = await ask({ ...claim, headers: { ...json, origin: owner.origin }, body });
      expect(taken.headers["set-cookie"]?.[0]).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    });

    it("can be framed, sniffed and read by nobody, whatever it answers", async () => {
      const answers = [
        await ask({ port: owner.port, path: "/" }),
        await ask({ port: owner.port, path: "/box/x/terminal" }),
        await ask({ port: owner.port, path: "/nothing.js" }),
        await ask({ port: owner.port, path: "/v1/me" }),
        await ask({ port: owner.port, path: "/v1/me", headers: owner.headers }),
        await ask({ port: owner.port, path: "/v1/nothing", headers: owner.headers }),
        await ask({ port: owner.port, path: "/", headers: { host: "attacker.test" } }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 401, 200, 404, 403]);
      for (const { headers } of answers) {
        expect(headers).toMatchObject({
          "x-content-type-options": "nosniff",
          "x-frame-options": "DENY",
          "referrer-policy": "no-referrer",
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-resource-policy": "same-origin",
          "cache-control": "no-store",
        });
        expect(headers["content-security-policy"]).toContain("default-src 'none'");
        expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
      }
      const [first, second] = await Promise.all([1, 2].map(() => ask({ port: owner.port, path: "/" })));
      const nonceOf = (policy: unknown) => /'nonce-([\w-]{20,})'/.exec(String(policy))?.[1];
      const nonce = nonceOf(first?.headers["content-security-policy"]);
      expect(first?.text).toContain(`content="${nonce}"`);
      expect(nonceOf(second?.headers["content-security-policy"])).not.toBe(nonce);
      const policy = String(first?.headers["content-security-policy"]);
      for (const weak of ["unsafe-inline", "unsafe-eval", "*", "http:", "https:", "data: 'self'"])
        expect(policy).not.toContain(weak);
    });

    it("serves files of the dashboard and no others", async () => {
      for (const path of [
        "/../main.js",
        "/..%2fmain.js",
        "/%2e%2e/main.js",
        "/.hidden.js",
        "/a/../../main.js",
        "/index.html",
      ]) {
        const { status, text } = await ask({ port: owner.port, path });
        expect(status, path).toBe(404);
        expect(text).not.toContain("import");
      }
      const page = await ask({ port: owner.port, path: "/" });
      const script = /src="(\/main-[\w]+\.js)"/.exec(page.text)?.[1] ?? "";
      const sent = await ask({ port: owner.port, path: script, headers: { "accept-encoding": "gzip" } });
      expect(sent.headers).toMatchObject({
        "content-type": "text/javascript; charset=utf-8",
        "content-encoding": "gzip",
        "cache-control": "public, max-age=31536000, immutable",
      });
    });
  });
});
