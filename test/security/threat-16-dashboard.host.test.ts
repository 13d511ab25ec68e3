/**
 * Threat 16, the web port: no route answers without a credential, whatever kind of route it is. The routes come from the
 * contract, so that a new one is tried the day it is there.
 */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Scope, scopes } from "../../src/contract/access/scope-names.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import {
  ask,
  asPage,
  claimLink,
  everyRoute,
  openEvents,
  openSocket,
  signIn,
  tryRoute,
  type WebSession,
} from "../support/web-client.ts";
import { emptyBox } from "./attack.ts";

const box = "door-box";
/** They end the daemon or the session, so a positive control would be the last one. */
const endings = new Set(["stopDaemon", "signOut"]);
const all = everyRoute(box);

describe("the web port", () => {
  let daemon: TestDaemon;
  let owner: WebSession;

  beforeAll(async () => {
    daemon = await startDaemon();
    await emptyBox(daemon, box);
    owner = await signIn(daemon);
  });
  afterAll(async () => daemon[Symbol.asyncDispose]());

  const statuses = async (headers: Readonly<Record<string, string>>, protocols: readonly string[] = []) => {
    const found = new Map<string, number>();
    for (const one of all) found.set(one.name, (await tryRoute(one, owner.port, headers, protocols)).status);
    return found;
  };
  const expectAll = (found: ReadonlyMap<string, number>, wanted: readonly number[]) => {
    expect(found.size).toBe(all.length);
    for (const [name, status] of found) expect(wanted, `${name}: ${status}`).toContain(status);
  };

  it("answers its owner on every route", async () => {
    const socketHeaders = { origin: owner.origin };
    for (const one of all.filter(({ name }) => !endings.has(name))) {
      const headers = { ...owner.headers, ...(one.isSocket ? socketHeaders : {}) };
      const { status } = await tryRoute(one, owner.port, headers, ["agentbox", `key.${owner.key}`]);
      expect([401, 403], `${one.name}: ${status}`).not.toContain(status);
    }
    expect(all.length).toBeGreaterThan(100);
  });

  it("answers nobody without a credential", async () => {
    expectAll(await statuses({}), [401, 403]);
    // A WebSocket of a page, with its right Origin and nothing else.
    for (const one of all.filter(({ isSocket }) => isSocket))
      expect((await tryRoute(one, owner.port, { origin: owner.origin }, ["agentbox"])).status).toBe(401);
  });

  it("answers nobody with half a session", async () => {
    const page = { origin: owner.origin };
    expectAll(await statuses({ ...page, cookie: owner.headers["cookie"] ?? "" }, ["agentbox"]), [401]);
    expectAll(
      await statuses({ ...page, "agentbox-key": owner.key }, ["agentbox", `key.${owner.key}`]),
      [401],
    );
    // The halves of two sessions are no whole one.
    const other = await signIn(daemon);
    const mixed = { ...page, cookie: owner.headers["cookie"] ?? "", "agentbox-key": other.key };
    expectAll(await statuses(mixed, ["agentbox", `key.${other.key}`]), [401, 429]);
  });

  it("answers nobody with an invented token", async () => {
    const invented = { authorization: `Bearer abt_${"A".repeat(43)}` };
    expectAll(await statuses(invented), [401, 429]);
    // SECURITY: who has a real one is not locked out by that.
    expect((await ask({ port: owner.port, path: "/v1/me", headers: owner.headers })).status).toBe(200);
    const noted = await daemon.client.listEvents({ type: "access.refused", limit: 1000 });
    expect(noted.events.map(({ data }) => data["reason"])).toContain("access.unauthenticated");
    // Hundreds of refusals, and a few lines: the log only grows.
    expect(noted.events.length).toBeLessThan(80);
  });

  it("lets a session in until it ends, and then on no route", async () => {
    const session = await signIn(daemon);
    const me = () => ask({ port: session.port, path: "/v1/me", headers: session.headers });
    expect(JSON.parse((await me()).text)).toMatchObject({ kind: "owner", isAdmin: true });
    const out = await ask({
      port: session.port,
      method: "POST",
      path: "/v1/me/sign-out",
      headers: { ...session.headers, "content-type": "application/json" },
      body: "{}",
    });
    expect(out.status).toBe(200);
    const headers = { ...session.headers, origin: session.origin };
    expectAll(await statuses(headers, ["agentbox", `key.${session.key}`]), [401, 429]);
    const { events } = await daemon.client.listEvents({ type: "access.signed_out", limit: 10 });
    expect(events.at(-1)?.data).toMatchObject({ who: "owner", reason: "signed out" });
  });

  it("takes a one-time link once", async () => {
    const { url } = await daemon.client.openLink();
    await claimLink(url);
    await expect(claimLink(url)).rejects.toThrow(/access\.(link_used|too_many)/);
  });

  it("holds a token to its scopes, on every route", async () => {
    for (const scope of scopes) {
      const { value } = await daemon.client.createToken({ name: `only-${scope}`, scopes: [scope] });
      const headers = { authorization: `Bearer ${value}` };
      for (const one of all.filter(({ name }) => !endings.has(name))) {
        const { status } = await tryRoute(one, owner.port, headers);
        const wanted: Scope | "none" = one.route.scope;
        const isIn = wanted === "none" || wanted === scope;
        if (isIn) expect([401, 403], `${scope} on ${one.name}: ${status}`).not.toContain(status);
        else expect(status, `${scope} on ${one.name}`).toBe(403);
      }
    }
  });

  it("never lets a token make more than itself", async () => {
    const made = await daemon.client.createToken({ name: "maker", scopes: ["host", "read"], ttlMs: 600_000 });
    const create = (tokenScopes: readonly string[]) =>
      ask({
        port: owner.port,
        method: "POST",
        path: "/v1/tokens",
        headers: { authorization: `Bearer ${made.value}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "made", scopes: tokenScopes }),
      });
    const same = await create(["read"]);
    expect(same.status).toBe(200);
    const { token } = JSON.parse(same.text) as { token: { expiresAtMs: number } };
    expect(token.expiresAtMs).toBeLessThanOrEqual(made.token.expiresAtMs ?? 0);
    expect((await create(["read", "secrets"])).code).toBe("access.forbidden");
    // Nor a session, which would have every scope.
    const link = await ask({
      port: owner.port,
      method: "POST",
      path: "/v1/web/link",
      headers: { authorization: `Bearer ${made.value}`, "content-type": "application/json" },
      body: "{}",
    });
    expect(link.code).toBe("access.forbidden");
    await daemon.client.removeToken({ id: made.token.id });
    expect([401, 429]).toContain((await create(["read"])).status);
  });

  it("ends what is open together with the credential", async () => {
    const session = await signIn(daemon);
    const { value, token } = await daemon.client.createToken({ name: "stream", scopes: ["read", "work"] });
    const path = `/v1/boxes/${box}/exec`;
    const sockets = [
      await openSocket(asPage(session, path)),
      await openSocket({ port: session.port, path, headers: { authorization: `Bearer ${value}` } }),
    ];
    const closed = sockets.map((socket) => {
      if (typeof socket === "number") throw new Error(`refused with ${socket}`);
      return new Promise<void>((resolve) => void socket.on("close", () => resolve()));
    });
    const events = [session.headers, { authorization: `Bearer ${value}` }].map((headers) =>
      openEvents(session.port, headers),
    );
    for (const { isOpen } of events) expect(await isOpen).toBe(200);
    const me = await ask({ port: session.port, path: "/v1/me", headers: session.headers });
    await daemon.client.endSignIn({ id: (JSON.parse(me.text) as { signIn: string }).signIn });
    await daemon.client.removeToken({ id: token.id });
    await Promise.all([...closed, ...events.map(({ isClosed }) => isClosed)]);
  });

  it("keeps no credential in a file or a log", async () => {
    const file = join(daemon.home, "access.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = readFileSync(file, "utf8");
    const { value } = await daemon.client.createToken({ name: "canary", scopes: ["read"] });
    const { events } = await daemon.client.listEvents({ limit: 1000 });
    for (const text of [kept, readFileSync(file, "utf8"), JSON.stringify(events), daemon.log()])
      for (const secret of [owner.cookie, owner.key, value]) expect(text).not.toContain(secret);
  });

  it("stays in its place over a restart, and lets the same session in", async () => {
    await daemon.stop();
    await daemon.start();
    const me = await ask({ port: owner.port, path: "/v1/me", headers: owner.headers });
    expect(me.status).toBe(200);
  });

  it("does not let a damaged file of records in, nor does it end the daemon", async () => {
    await daemon.stop();
    writeFileSync(join(daemon.home, "access.json"), '{"sessions":[{"id":1}]}');
    await daemon.start();
    const { port } = await signIn(daemon);
    expect((await ask({ port, path: "/v1/me", headers: owner.headers })).status).toBe(401);
    expect(daemon.log()).toContain("records of who may come in are damaged");
  });
});
