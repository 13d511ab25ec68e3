/**
 * Threat 21: a request to a preview that names something else than its box. Whatever a client puts into the Host, the target,
 * a header or a pass, the host connects to nothing, another box is not reached, and the API does not answer.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { whyNoBoxes } from "../support/test-runtime.ts";
import { describeUnless } from "../support/skipping.ts";
import {
  ask,
  askRaw,
  claimLink,
  openSocket,
  signIn,
  type WebAnswer,
  type WebSession,
} from "../support/web-client.ts";
import { emptyBox, eventsOf } from "./attack.ts";

const port = 3000;

/** Says who it is and what it was told, so that a test sees what came through. */
const program = (name: string) =>
  `require("http").createServer((q, s) => s.end(JSON.stringify({ box: ${JSON.stringify(name)}, url: q.url, headers: q.headers }))).listen(${port}, "127.0.0.1")`;

const serve = async ({ client }: TestDaemon, box: string): Promise<void> => {
  const spec = { argv: ["node", "-e", program(box)], terminal: false, cols: 80, rows: 24 };
  await client.startSession(box, { session: "server", spec });
  await waitFor("it listens", async () => (await client.listPorts(box)).some((one) => one.port === port));
};

describeUnless(await whyNoBoxes())("previews", () => {
  let daemon: TestDaemon;
  let owner: WebSession;
  /** A server on the host's own loopback, which nothing may ever reach. */
  let trap: Server;
  let trapPort: number;
  let visits = 0;

  beforeAll(async () => {
    daemon = await startDaemon();
    trap = createServer((socket) => {
      visits += 1;
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret");
    }).listen(0, "127.0.0.1");
    await once(trap, "listening");
    trapPort = (trap.address() as AddressInfo).port;
    for (const name of ["shop", "other"]) {
      await emptyBox(daemon, name);
      await serve(daemon, name);
    }
    owner = await signIn(daemon);
  });
  afterAll(async () => {
    trap?.close();
    await endAll(daemon);
  });

  const hostOf = (box = "shop", number = port) => `p${number}-${box}.localhost:${owner.port}`;

  /** As the page does it: a pass for its own cookie. */
  async function enter(session: WebSession, box = "shop", number = port): Promise<string> {
    const asked = await ask({
      port: owner.port,
      method: "POST",
      path: `/v1/boxes/${box}/preview`,
      headers: { ...session.headers, "content-type": "application/json" },
      body: JSON.stringify({ port: number }),
    });
    expect(asked.status, asked.text).toBe(200);
    const { url } = JSON.parse(asked.text) as { url: string };
    const claimed = await claim(new URL(url).hash.slice("#pass=".length), hostOf(box, number));
    expect(claimed.status).toBe(200);
    return claimed.headers["set-cookie"]![0]!.split(";")[0]!;
  }
  const claim = (pass: string, host: string): Promise<WebAnswer> =>
    ask({
      port: owner.port,
      method: "POST",
      path: "/.agentbox/enter",
      headers: { host, origin: `http://${host}`, "content-type": "application/json" },
      body: JSON.stringify({ pass }),
    });
  const look = (host: string, cookie: string, path = "/", more: Record<string, string> = {}) =>
    ask({ port: owner.port, path, headers: { host, cookie, ...more } });

  it("show the port of the box that they were opened for, and the opening is written down", async () => {
    const cookie = await enter(owner);
    const { status, text, headers } = await look(hostOf(), cookie, "/page?x=1");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ box: "shop", url: "/page?x=1" });
    expect(headers["content-security-policy"]).toContain("default-src 'self'");
    const [opened] = await eventsOf(daemon, "preview.opened", "shop");
    expect(opened).toMatchObject({ data: { port, by: "owner" } });
  });

  it("are refused without a pass, with a used one, and with that of another box or port", async () => {
    const [mine, theirs] = [await enter(owner), await enter(owner, "other")];
    expect((await look(hostOf(), mine)).status).toBe(200);
    expect(JSON.parse((await look(hostOf("other"), theirs)).text)).toMatchObject({ box: "other" });
    for (const [host, cookie] of [
      [hostOf(), ""],
      [hostOf(), theirs],
      [hostOf("other"), mine],
      [hostOf("shop", port + 1), mine],
      [hostOf("no-such-box"), mine],
      [hostOf(), "agentbox-preview=invented"],
      [hostOf(), owner.headers["cookie"]!],
    ] as const) {
      const { status, text } = await look(host, cookie);
      expect(status, `${host} ${cookie}`).toBe(403);
      expect(text).not.toContain('"box"');
    }
    await waitFor("the refusal is written down", async () => {
      const [refused] = await eventsOf(daemon, "preview.refused", "shop");
      return refused !== undefined && refused.data["reason"] === "no_pass";
    });
  });

  it("make the host connect to nothing, whatever a request names", async () => {
    const cookie = await enter(owner);
    // The control: the trap works, and a pass for its number leads to the box, where nothing listens.
    expect((await ask({ port: trapPort, path: "/" })).text).toBe("secret");
    expect(visits).toBe(1);
    const atTrap = await look(hostOf("shop", trapPort), await enter(owner, "shop", trapPort));
    expect(atTrap).toMatchObject({ status: 502, headers: { "agentbox-error": "port.closed" } });

    const names = [
      "127.0.0.1",
      "localhost",
      "169.254.169.254",
      "metadata.google.internal",
      "example.com",
      "[::1]",
    ];
    for (const name of names) {
      for (const host of [name, `${name}:${trapPort}`, `p${trapPort}-${name}.localhost:${owner.port}`]) {
        const { status } = await look(host, cookie);
        expect([400, 403], host).toContain(status);
      }
      const target = `http://${name}:${trapPort}/`;
      for (const path of [target, `//${name}:${trapPort}/`, `/../${name}`, `/%2e%2e/${name}`])
        if (!path.startsWith("//")) expect((await look(hostOf(), cookie, path)).status, path).toBe(400);
      const told = await look(hostOf(), cookie, "/", {
        "x-forwarded-host": `${name}:${trapPort}`,
        "x-original-url": target,
        "x-rewrite-url": target,
        forwarded: `host=${name}:${trapPort}`,
        "x-forwarded-port": String(trapPort),
      });
      expect(JSON.parse(told.text)).toMatchObject({ box: "shop", headers: { host: `localhost:${port}` } });
      expect(told.text).not.toContain(`"x-forwarded-host":"${name}`);
    }
    // A path that begins with two slashes is a path of the box's, and no address.
    expect(JSON.parse((await look(hostOf(), cookie, `//127.0.0.1:${trapPort}/`)).text)).toMatchObject({
      box: "shop",
    });
    for (const [line, host] of [
      ["GET / HTTP/1.1", `${hostOf()}\r\nhost: 127.0.0.1:${trapPort}`],
      [`GET http://127.0.0.1:${trapPort}/ HTTP/1.1`, hostOf()],
      ["GET / HTTP/1.1", `${hostOf()} 127.0.0.1`],
    ] as const)
      expect(await askRaw(owner.port, `${line}\r\nhost: ${host}\r\ncookie: ${cookie}\r\n\r\n`)).toMatch(
        / 40[03] /,
      );
    expect(
      await askRaw(owner.port, `CONNECT 127.0.0.1:${trapPort} HTTP/1.1\r\nhost: ${hostOf()}\r\n\r\n`),
    ).not.toMatch(/ 2\d\d /);
    expect(visits).toBe(1);
  });

  it("have no API behind them, and give the box nothing that opens it", async () => {
    const cookie = await enter(owner);
    const all = `${cookie}; ${owner.headers["cookie"]}; theme=dark`;
    const more = { "agentbox-key": owner.key, authorization: "Bearer abt_secret" };
    // The control: the same credentials are the owner's on the dashboard's own name.
    expect((await ask({ port: owner.port, path: "/v1/boxes", headers: owner.headers })).text).toContain(
      '"boxes"',
    );
    for (const path of ["/v1/boxes", "/v1/me", "/openapi.json", "/auth/claim"]) {
      const { status, text } = await look(hostOf(), all, path, more);
      expect(status).toBe(200);
      const told = JSON.parse(text) as { box: string; headers: Record<string, string> };
      expect(told).toMatchObject({ box: "shop", url: path, headers: { cookie: "theme=dark" } });
      expect(text).not.toContain(owner.key);
      expect(text).not.toContain(owner.cookie);
      expect(text).not.toContain("abt_secret");
    }
    expect((await look(hostOf(), owner.headers["cookie"]!, "/v1/boxes", more)).status).toBe(403);
    // A page of the box asks the API at its own name: the browser says whose page it is.
    const { status, code } = await ask({
      port: owner.port,
      path: "/v1/boxes",
      headers: { ...owner.headers, origin: `http://${hostOf()}` },
    });
    expect([status, code]).toEqual([403, "access.forbidden"]);
    const socket = {
      port: owner.port,
      path: "/v1/boxes/shop/exec",
      protocols: ["agentbox", `key.${owner.key}`],
    };
    const withOrigin = (origin: string) => openSocket({ ...socket, headers: { ...owner.headers, origin } });
    const own = await withOrigin(owner.origin);
    expect(typeof own).not.toBe("number");
    if (typeof own !== "number") own.terminate();
    expect(await withOrigin(`http://${hostOf()}`)).toBe(403);
  });

  describe("of somebody who was given a box", () => {
    const share = async (may: "look" | "work") => {
      const { share: made, url } = await daemon.client.createShare("shop", { may, with: { link: true } });
      return { id: made.id, guest: await claimLink(url!) };
    };

    it("are for those who may work in it, and end with the share", async () => {
      const { id, guest } = await share("work");
      const cookie = await enter(guest);
      expect((await look(hostOf(), cookie)).status).toBe(200);
      await daemon.client.removeShare("shop", { id });
      expect((await look(hostOf(), cookie)).status).toBe(403);
    });

    it("are not for those who may only look, nor for those who do not see it", async () => {
      const open = (session: WebSession, box: string) =>
        ask({
          port: owner.port,
          method: "POST",
          path: `/v1/boxes/${box}/preview`,
          headers: { ...session.headers, "content-type": "application/json" },
          body: JSON.stringify({ port }),
        });
      const { guest } = await share("look");
      expect((await open(owner, "shop")).status).toBe(200);
      expect((await open(guest, "shop")).status).toBe(403);
      expect((await open(guest, "other")).code).toBe("box.not_found");
    });
  });

  it("end with the session, and with the box whose name another one gets", async () => {
    const session = await signIn(daemon);
    const [mine, theirs] = [await enter(session), await enter(owner)];
    expect((await look(hostOf(), mine)).status).toBe(200);
    await ask({
      port: owner.port,
      method: "POST",
      path: "/v1/me/sign-out",
      headers: { ...session.headers, "content-type": "application/json" },
      body: "{}",
    });
    expect((await look(hostOf(), mine)).status).toBe(403);
    expect((await look(hostOf(), theirs)).status).toBe(200);
    await daemon.client.removeBox("shop", { force: true });
    await emptyBox(daemon, "shop");
    await serve(daemon, "shop");
    const { status, text } = await look(hostOf(), theirs);
    expect([403, 404]).toContain(status);
    expect(text).not.toContain('"box"');
    expect((await look(hostOf(), await enter(owner))).status).toBe(200);
  });
});
