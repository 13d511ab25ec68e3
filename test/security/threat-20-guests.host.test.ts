/**
 * Threat 20, guests: what was shared is one box, and no route leads from it to another box or to the host. The routes come
 * from the contract; a box that is not theirs answers exactly as one that does not exist.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import {
  ask,
  asPage,
  claimLink,
  everyRoute,
  openEvents,
  openSocket,
  tryRoute,
  type WebSession,
} from "../support/web-client.ts";
import { emptyBox } from "./attack.ts";

const [mine, other, missing] = ["guest-mine", "guest-other", "guest-none"];
const json = { "content-type": "application/json" };

describe("a guest", () => {
  let daemon: TestDaemon;
  let looker: WebSession;
  let worker: WebSession;

  const share = async (may: "look" | "work", box = mine) => {
    const { url, share: made } = await daemon.client.createShare(box, { may, with: { link: true } });
    return { session: await claimLink(url ?? ""), url: url ?? "", id: made.id };
  };
  const get = async <T>(session: WebSession, path: string): Promise<T> => {
    const answer = await ask({ port: session.port, path, headers: session.headers });
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
    return JSON.parse(answer.text) as T;
  };
  const tryAs = (session: WebSession, one: ReturnType<typeof everyRoute>[number]) =>
    tryRoute(one, session.port, { ...session.headers, origin: session.origin }, [
      "agentbox",
      `key.${session.key}`,
    ]);

  beforeAll(async () => {
    daemon = await startDaemon();
    for (const name of [mine, other]) {
      await emptyBox(daemon, name);
      await daemon.client.startSession(name, {
        session: "main",
        spec: { argv: ["sh"], terminal: true, cols: 80, rows: 24 },
      });
    }
    looker = (await share("look")).session;
    worker = (await share("work")).session;
  });
  afterAll(async () => daemon[Symbol.asyncDispose]());

  it("is let in to the box that was shared, as far as it was", async () => {
    expect(await get(looker, "/v1/me")).toMatchObject({
      kind: "guest",
      box: mine,
      may: "look",
      isAdmin: false,
    });
    for (const one of everyRoute(mine)) {
      const { scope, reach } = one.route;
      if (one.name === "signOut" || reach === "visible") continue;
      const mayLook = reach === "anyone" || (reach === "look" && scope === "read");
      const mayWork = mayLook || (reach === "work" && scope === "work");
      for (const [session, isIn] of [
        [looker, mayLook],
        [worker, mayWork],
      ] as const) {
        const { status } = await tryAs(session, one);
        const named = `${one.name}: ${status}`;
        if (isIn) expect([401, 403], named).not.toContain(status);
        else expect(status, named).toBe(403);
      }
    }
  });

  it("finds another box on no route, and cannot tell that there is one", async () => {
    const boxed = everyRoute(other).filter(({ route }) => route.path.includes("{box}"));
    expect(boxed.length).toBeGreaterThan(40);
    for (const one of boxed) {
      const none = everyRoute(missing).find(({ name }) => name === one.name)!;
      for (const session of [looker, worker]) {
        const found = await tryAs(session, one);
        expect(found.status, one.name).toBe(one.route.reach === "host" ? 403 : 404);
        expect(found).toEqual(await tryAs(session, none));
      }
    }
    const text = async (box: string) =>
      (await ask({ port: worker.port, path: `/v1/boxes/${box}`, headers: worker.headers })).text;
    expect(await text(other)).toBe((await text(missing)).replaceAll(missing, other));
    // The control: its owner finds it, and it is as it was.
    expect((await daemon.client.getBox(other)).box.state.phase).toBe("running");
    const { events } = await daemon.client.listEvents({ type: "access.refused", limit: 1000 });
    expect(events.map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ reason: "unseen", who: "guest", box: other }),
    );
  });

  it("finds another box through no list and no second name", async () => {
    await daemon.client.createToken({ name: "of-the-host", scopes: ["read"] });
    const lists = [
      "/v1/boxes",
      "/v1/events?limit=1000",
      "/v1/events?limit=1000&order=newest",
      "/v1/egress?limit=1000",
      "/v1/approvals",
      "/v1/usage?by=box",
      "/v1/usage/requests",
      "/v1/info",
    ];
    for (const path of lists) {
      const text = JSON.stringify(await get(worker, path));
      expect(text, path).not.toContain(other);
      expect(text, path).not.toContain(daemon.home);
    }
    expect(await get(worker, "/v1/boxes")).toMatchObject({ boxes: [{ name: mine, role: "work" }] });
    const { events } = await get<{ events: { box?: string }[] }>(worker, "/v1/events?limit=1000");
    expect(events.length).toBeGreaterThan(2);
    expect(new Set(events.map(({ box }) => box))).toEqual(new Set([mine]));
    for (const path of [
      `/v1/events?box=${other}`,
      `/v1/events?box=${other}&follow=true`,
      `/v1/egress?box=${other}`,
      `/v1/usage?box=${other}`,
      `/v1/usage/requests?box=${other}`,
      `/v1/boxes/${mine}/review?against=${other}`,
      `/v1/boxes/${mine}/patch?against=${other}`,
    ]) {
      const asGuest = await ask({ port: worker.port, path, headers: worker.headers });
      expect(asGuest.code, path).toBe("box.not_found");
    }
    const posted = await ask({
      port: worker.port,
      method: "POST",
      path: `/v1/boxes/${mine}/checkpoint-and-review`,
      headers: { ...worker.headers, ...json, origin: worker.origin },
      body: JSON.stringify({ against: other }),
    });
    expect(posted.code).toBe("box.not_found");
  });

  it("follows the events of its own box and of nothing else", async () => {
    const stream = openEvents(worker.port, worker.headers);
    expect(await stream.isOpen).toBe(200);
    await daemon.client.pauseBox(other);
    await daemon.client.resumeBox(other);
    await daemon.client.createToken({ name: "unseen", scopes: ["read"] });
    await daemon.client.pauseBox(mine);
    await daemon.client.resumeBox(mine);
    await waitFor("the guest's own event", () => stream.text().includes("box.resumed"));
    expect(stream.text()).not.toContain(other);
    expect(stream.text()).not.toContain("token.created");
    stream.close();
  });

  it("types nothing when it may only look, whatever it asks for", async () => {
    const attach = async (session: WebSession, text: string): Promise<string> => {
      const socket = await openSocket(asPage(session, `/v1/boxes/${mine}/sessions/main/attach`));
      if (typeof socket === "number") throw new Error(`refused with ${socket}`);
      let seen = "";
      let isReady = false;
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        isReady = true;
        if (isBinary) seen += data.subarray(1).toString();
      });
      socket.send(JSON.stringify({ cols: 80, rows: 24, readOnly: false }));
      await waitFor("the terminal is there", () => isReady);
      socket.send(Buffer.concat([Buffer.from([1]), Buffer.from(`echo ${text}\n`)]));
      // A guest who may type shows when everything before has arrived.
      if (session === looker) seen += await attach(worker, `after-${text}`);
      else await waitFor(`${text} is seen`, () => seen.includes(text));
      socket.terminate();
      return seen;
    };
    expect(await attach(worker, "from-worker")).toContain("from-worker");
    expect(await attach(looker, "by-the-looker")).not.toMatch(/(?<!after-)by-the-looker/);
    const { events } = await daemon.client.listEvents({ type: "session.attached", box: mine, limit: 100 });
    expect(events.map(({ data }) => data["readOnly"])).toContain(true);
  });

  it("cannot end the box with what follows a command", async () => {
    const socket = await openSocket(asPage(worker, `/v1/boxes/${mine}/exec`));
    if (typeof socket === "number") throw new Error(`refused with ${socket}`);
    const answer = new Promise<string>((resolve) =>
      socket.on("message", (data: Buffer) => resolve(data.toString())),
    );
    socket.send(JSON.stringify({ argv: ["true"], stdin: false, afterMain: "remove" }));
    expect(await answer).toContain("access.forbidden");
    expect((await daemon.client.getBox(mine)).box.state.phase).toBe("running");
  });

  it("has nothing open once the share has ended", async () => {
    const { session, id, url } = await share("work");
    await expect(claimLink(url)).rejects.toThrow(/access\.(link_used|too_many)/);
    const socket = await openSocket(asPage(session, `/v1/boxes/${mine}/exec`));
    if (typeof socket === "number") throw new Error(`refused with ${socket}`);
    const closed = new Promise<void>((resolve) => void socket.on("close", () => resolve()));
    const stream = openEvents(session.port, session.headers);
    expect(await stream.isOpen).toBe(200);
    // It cannot be ended through another box.
    await expect(daemon.client.removeShare(other, { id })).rejects.toMatchObject({
      code: "access.not_found",
    });
    await daemon.client.removeShare(mine, { id });
    await Promise.all([closed, stream.isClosed]);
    expect([401, 429]).toContain(
      (await ask({ port: session.port, path: "/v1/me", headers: session.headers })).status,
    );
    const { events } = await daemon.client.listEvents({ box: mine, limit: 1000 });
    const types = events.map(({ type }) => type);
    expect(types).toContain("box.shared");
    expect(types).toContain("box.unshared");
  });

  it("cannot give anything to anybody", async () => {
    const post = (path: string, body: object) =>
      ask({
        port: worker.port,
        method: "POST",
        path,
        headers: { ...worker.headers, ...json },
        body: JSON.stringify(body),
      });
    const wish = { may: "look", with: { link: true } };
    expect((await post(`/v1/boxes/${mine}/shares`, wish)).code).toBe("access.forbidden");
    expect((await post("/v1/tokens", { name: "x", scopes: ["read"] })).code).toBe("access.forbidden");
    expect((await post("/v1/web/link", {})).code).toBe("access.forbidden");
  });

  it("does not find a new box under the name of the one that was shared", async () => {
    const name = "guest-again";
    await emptyBox(daemon, name);
    const { session } = await share("work", name);
    const pending = await daemon.client.createShare(name, { may: "work", with: { link: true } });
    expect(await get(session, "/v1/boxes")).toMatchObject({ boxes: [{ name }] });
    await daemon.client.removeBox(name, { force: true });
    await emptyBox(daemon, name);
    const answer = await ask({ port: session.port, path: `/v1/boxes/${name}`, headers: session.headers });
    expect([401, 404, 429]).toContain(answer.status);
    await expect(claimLink(pending.url ?? "")).rejects.toThrow(/access\.(link_used|too_many)/);
    expect(await daemon.client.listShares(name)).toEqual([]);
  });

  it("is made, listed and ended on the command line", async () => {
    const made = await daemon.json<{ url: string; share: { id: string } }>(["share", other, "--for", "8h"]);
    expect((await get<{ box: string }>(await claimLink(made.url), "/v1/me")).box).toBe(other);
    expect((await daemon.cli(["share", "ls", other])).stdout).toContain("link, opened");
    expect((await daemon.cli(["share", "rm", other, made.share.id])).code).toBe(0);
    expect((await daemon.cli(["share", "ls", other])).stdout).toContain("is not shared");
    const token = await daemon.cli(["token", "create", "ci", "--scope", "read", "--expires", "30d"]);
    expect(token.stdout).toMatch(/^abt_[\w-]{43}\n$/);
    expect((await daemon.cli(["token", "ls"])).stdout).toMatch(/ci +read +owner +never +in /);
    expect((await daemon.cli(["sign-ins"])).stdout).toContain(`guest of ${mine}`);
    expect((await daemon.cli(["open", "--print"])).stdout).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/#link=[\w-]{43}\n$/,
    );
  });
});
