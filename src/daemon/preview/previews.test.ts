import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AgentBoxError } from "../../base/errors.ts";
import { PreviewGround } from "../../../test/support/preview-ground.ts";
import { waitFor } from "../../base/wait-for.ts";

let ground: PreviewGround;
beforeAll(async () => {
  ground = await PreviewGround.start();
});
afterAll(() => ground[Symbol.asyncDispose]());
beforeEach(() => ground.reset());

describe("a pass", () => {
  test("opens one port of one box, once, and is written down", async () => {
    const page = await ground.ask("/.agentbox/enter");
    expect(page).toMatchObject({ status: 200, headers: { "content-type": "text/html; charset=utf-8" } });
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'; script-src 'sha256-");
    const pass = await ground.pass();
    const first = await ground.claim(pass);
    expect(first.status).toBe(200);
    expect(first.headers["set-cookie"]).toEqual([
      expect.stringMatching(/^agentbox-preview=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/),
    ]);
    expect(ground.events).toEqual([{ type: "preview.opened", data: { port: ground.port, by: "owner" } }]);
    expect((await ground.claim(pass)).status).toBe(403);
    const [own] = first.headers["set-cookie"]![0]!.split(";");
    expect(await ground.ask("/", { cookie: own! })).toMatchObject({
      status: 200,
      text: "hello from the box",
    });
    // Nothing of it opens anything else.
    expect((await ground.ask("/", { cookie: own!, host: ground.host(ground.port + 1) })).status).toBe(403);
    expect((await ground.ask("/", { cookie: own!, host: ground.host(ground.port, "other") })).status).toBe(
      403,
    );
    expect((await ground.ask("/")).status).toBe(403);
    await waitFor("the refusal is written down", () =>
      ground.events.some(({ type }) => type === "preview.refused"),
    );
  });

  test("is not taken from another page, by GET, or for another place", async () => {
    const pass = await ground.pass();
    for (const headers of [
      { origin: "http://evil.example" },
      { origin: `http://127.0.0.1:${ground.webPort}` },
      { "content-type": "text/plain" },
      { host: ground.host(ground.port + 1), origin: `http://${ground.host(ground.port + 1)}` },
    ])
      expect((await ground.claim(pass, headers)).status, JSON.stringify(headers)).toBe(403);
    expect((await ground.ask(`/.agentbox/enter?pass=${pass}`)).status).toBe(404);
    expect((await ground.claim("x".repeat(5000))).status).toBe(413);
    expect((await ground.claim(pass)).status).toBe(200);
  });

  test("ends with its holder and with its box", async () => {
    const own = await ground.cookie();
    expect((await ground.ask("/", { cookie: own })).status).toBe(200);
    ground.isAllowed = false;
    expect((await ground.ask("/", { cookie: own })).status).toBe(403);
    ground.isAllowed = true;
    ground.box = { ...ground.box, incarnation: "two" };
    expect((await ground.ask("/", { cookie: own })).status).toBe(404);
  });

  test("that ends takes what is open with it", async () => {
    ground.answer = (_request, response) => void response.write("forever");
    const asked = httpRequest({
      port: ground.webPort,
      path: "/",
      headers: { host: ground.host(), cookie: await ground.cookie() },
    });
    asked.on("error", () => undefined);
    asked.end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    response.on("error", () => undefined).resume();
    const cut = new Promise((resolve) => response.on("close", resolve));
    ground.endAll();
    await cut;
    expect(response.complete).toBe(false);
  });
});

describe("a request", () => {
  test("says by its Host alone where it goes, and in one form", async () => {
    const own = await ground.cookie();
    const status = async (path: string, host: string | string[]) =>
      (await ground.ask(path, { cookie: own, host })).status;
    expect(await status("/", ground.host())).toBe(200);
    const bad = [
      `p0-shop.localhost:${ground.webPort}`,
      `p65536-shop.localhost:${ground.webPort}`,
      `p99999-shop.localhost:${ground.webPort}`,
      `p${ground.port}-shop.localhost`,
      `p${ground.port}-shop.localhost:1`,
      `p${ground.port}-shop.localhost.:${ground.webPort}`,
      `P${ground.port}-shop.localhost:${ground.webPort}`,
      `p${ground.port}-SHOP.localhost:${ground.webPort}`,
      `p${ground.port}-169.254.169.254.localhost:${ground.webPort}`,
      `p80-metadata.google.internal.localhost:${ground.webPort}`,
      `p${ground.port}--shop.localhost:${ground.webPort}`,
      `p080-shop.localhost:${ground.webPort}`,
      `x@p${ground.port}-shop.localhost:${ground.webPort}`,
      `.localhost:${ground.webPort}`,
    ];
    for (const host of bad) expect(await status("/", host), host).toBe(400);
    for (const path of [
      "http://169.254.169.254/",
      `http://${ground.host()}/`,
      "/../x",
      "/a/..",
      "/%2e%2e/x",
      "/a/%2E./b",
      "*",
    ])
      expect(await status(path, ground.host()), path).toBe(400);
    // Anything that is no name of a preview is the dashboard's to refuse.
    expect(await status("/", "169.254.169.254")).toBe(418);
    expect(await status("/", `localhost:${ground.webPort}`)).toBe(418);
    expect(ground.seen).toHaveLength(1);
    const twice = connect(ground.webPort, "127.0.0.1");
    twice.write(
      `GET / HTTP/1.1\r\nhost: ${ground.host()}\r\nhost: localhost:${ground.webPort}\r\ncookie: ${own}\r\n\r\n`,
    );
    expect(String((await once(twice, "data"))[0])).toMatch(/^HTTP\/1.1 400 /);
    twice.destroy();
  });

  test("takes nothing of the daemon's with it, and says where it came from as the program knows itself", async () => {
    const own = await ground.cookie();
    await ground.ask("/x?y=1", {
      cookie: `theme=dark; ${own}; agentbox-session=secret; __Host-agentbox-x=1; id=7`,
      "agentbox-key": "secret",
      authorization: "Bearer abt_secret",
      origin: `http://${ground.host()}`,
      referer: `http://${ground.host()}/from`,
      "x-forwarded-for": "1.2.3.4",
      "x-forwarded-host": "metadata",
      forwarded: "host=metadata",
      connection: "close, x-hop",
      "x-hop": "1",
      "proxy-authorization": "secret",
      "x-own": "kept",
    });
    const { url, headers } = ground.seen[0]!;
    expect(url).toBe("/x?y=1");
    expect(headers).toMatchObject({
      host: `localhost:${ground.port}`,
      origin: `http://localhost:${ground.port}`,
      referer: `http://localhost:${ground.port}/from`,
      cookie: "theme=dark; id=7",
      "x-forwarded-host": ground.host(),
      "x-own": "kept",
    });
    expect(JSON.stringify(ground.seen[0]!.rawHeaders)).not.toMatch(/secret|metadata|1\.2\.3\.4|x-hop|abt_/);
    await ground.ask("/", { cookie: own, authorization: "Basic YTpi" });
    expect(ground.seen[1]!.headers.authorization).toBe("Basic YTpi");
  });

  test("has a body of any kind", async () => {
    ground.answer = async (request, response) => {
      let text = "";
      for await (const chunk of request) text += String(chunk);
      response.end(`${request.method} ${text}`);
    };
    const own = await ground.cookie();
    const headers = { cookie: own, origin: `http://${ground.host()}` };
    expect((await ground.ask("/", headers, { method: "POST", body: "a=b" })).text).toBe("POST a=b");
    const chunked = { ...headers, "transfer-encoding": "chunked" };
    expect((await ground.ask("/", chunked, { method: "DELETE", body: "gone" })).text).toBe("DELETE gone");
    expect(
      (await ground.ask("/", { ...headers, origin: "http://evil.example" }, { method: "POST" })).status,
    ).toBe(403);
    expect((await ground.ask("/", headers, { method: "TRACE" })).status).toBe(405);
  });

  test("for a service worker is refused, because it would outlive the box", async () => {
    const own = await ground.cookie();
    expect((await ground.ask("/sw.js", { cookie: own })).status).toBe(200);
    expect((await ground.ask("/sw.js", { cookie: own, "service-worker": "script" })).status).toBe(403);
  });
});

describe("a box with secrets in its reach", () => {
  const give = (...names: string[]) => {
    const env = Object.fromEntries(names.map((name) => [name, "x"]));
    ground.box = { ...ground.box, spec: { ...ground.box.spec, env, givenEnv: names } };
  };
  const refusal = (opening: Promise<unknown>) => opening.catch((error: unknown) => error);

  test("is shown after its owner's yes to exactly these, which is written down first", async () => {
    give("TOKEN");
    const refused = await refusal(ground.open({}));
    expect(refused).toMatchObject({
      code: "preview.unconfirmed",
      facts: { holds: ["read the variable TOKEN, whose value you gave it"] },
    });
    const { digest } = (refused as AgentBoxError).facts as { digest: string };
    expect(await refusal(ground.open({ agreed: "sha256:0" }))).toMatchObject({ code: "preview.unconfirmed" });
    const guest = { agreed: digest, mayAgree: false };
    expect(await refusal(ground.open(guest))).toMatchObject({ code: "access.forbidden" });
    const asGuest = await refusal(ground.open({ mayAgree: false }));
    expect(asGuest).toMatchObject({ code: "preview.unconfirmed", facts: undefined });
    expect(ground.events.some(({ type }) => type === "preview.agreed")).toBe(false);
    await ground.open({ agreed: digest });
    expect(ground.events.filter(({ type }) => type === "preview.agreed")).toMatchObject([
      {
        data: { by: "owner", port: ground.port, holds: ["read the variable TOKEN, whose value you gave it"] },
      },
    ]);
    // It counts for all who may see the box, and until the box is another one.
    await ground.open({ mayAgree: false });
    ground.box = { ...ground.box, incarnation: "two" };
    expect(await refusal(ground.open({}))).toMatchObject({ code: "preview.unconfirmed" });
  });

  test("is asked about again when there is another, also for pages that are open", async () => {
    give("ONE");
    const first = (await refusal(ground.open({}))) as AgentBoxError;
    await ground.open({ agreed: first.facts!["digest"] as string });
    const own = await ground.cookie();
    expect((await ground.ask("/", { cookie: own })).status).toBe(200);
    give();
    expect((await ground.ask("/", { cookie: own })).status).toBe(200);
    give("ONE", "TWO");
    const { status, headers } = await ground.ask("/", { cookie: own });
    expect([status, headers["agentbox-error"]]).toEqual([409, "preview.unconfirmed"]);
    expect(await refusal(ground.open({ agreed: first.facts!["digest"] as string }))).toMatchObject({
      code: "preview.unconfirmed",
    });
  });
});
