/**
 * Threat 20: another person's box. Two people and an admin of a team, at every route with a box in its path and at
 * every list, taken from the table of routes: a box that is not theirs answers exactly as one that does not exist.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { Route } from "../../src/contract/api/route.ts";
import { routeNames, routeTable } from "../../src/contract/api/routes.ts";
import { type Answer, type TestTeam, type Visitor, startTeam } from "../support/team.ts";

const table = routeNames.map((name) => ({ name, route: routeTable[name] }));
const boxed = table.filter(({ route }) => route.path.includes("{box}"));
const plainBoxed = boxed.filter(({ route }) => route.media !== "websocket");
const sockets = boxed.filter(({ route }) => route.media === "websocket");
const lists = table.filter(({ route }) => route.method === "GET" && !route.path.includes("{"));

let team: TestTeam;
let project: string;
let ana: Visitor;
let bob: Visitor;
let carl: Visitor;

beforeAll(async () => {
  team = await startTeam();
  const { provider, daemon } = team;
  project = join(daemon.scratch, "project");
  mkdirSync(project);
  for (const args of [
    ["init", "-q"],
    ["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "one"],
  ])
    execFileSync("git", args, { cwd: project });
  team.configure("", `projects = ["${project}"]`);
  provider.members.set("ana", { name: "Ana", groups: ["admins"] });
  provider.members.set("bob", { name: "Bob" });
  provider.members.set("carl", { name: "Carl", email: "carl@example.org", email_verified: true });
  [ana, bob, carl] = [await team.person("ana"), await team.person("bob"), await team.person("carl")];
  expect(await make(bob, "bob-box")).toMatchObject({ status: 200 });
  expect(await make(carl, "carl-box")).toMatchObject({ status: 200 });
  await daemon.client.createBox({ name: "owner-box", start: false });
}, 120_000);
afterAll(() => team[Symbol.asyncDispose](), 120_000);

const make = (who: Visitor, name: string, more: object = {}) =>
  who.ask("POST", "/v1/boxes", { name, projectDir: project, start: false, ...more });

/** With a body that no route takes: a caller that is let in is told so, and nothing is done. */
const target = ({ path }: Route, box: string): string =>
  `${path.replace("{box}", box).replace(/\{\w+\}/g, "1")}?force=neither`;
const ask = (who: Visitor, route: Route, box: string): Promise<Answer> =>
  who.ask(route.method, target(route, box), route.method === "POST" ? { noSuchField: true } : undefined);

/** The same answer, but for the name that was asked for. */
const withoutName = ({ status, body }: Answer, box: string) =>
  JSON.stringify({ status, body }).replaceAll(box, "BOX");

describe("a box of somebody else", () => {
  it.each(plainBoxed.map(({ name, route }) => [name, route] as const))(
    "%s: the one who made it is let in, a stranger meets a box that does not exist",
    async (name, route) => {
      const own = await ask(bob, route, "bob-box");
      const isOfHost = routeTable[name].reach === "host";
      if (isOfHost) expect(own.body.error?.code).toBe("access.forbidden");
      else
        expect(["access.forbidden", "box.not_found"], JSON.stringify(own.body)).not.toContain(
          own.body.error?.code,
        );

      const foreign = await ask(carl, route, "bob-box");
      const none = await ask(carl, route, "no-such-box");
      expect(foreign.body.error?.code).toBe(isOfHost ? "access.forbidden" : "box.not_found");
      expect(withoutName(foreign, "bob-box")).toBe(withoutName(none, "no-such-box"));
      const owners = await ask(carl, route, "owner-box");
      expect(withoutName(owners, "owner-box")).toBe(withoutName(none, "no-such-box"));
      // An admin is let in everywhere.
      const byAdmin = await ask(ana, route, "bob-box");
      expect(["access.forbidden", "box.not_found"], JSON.stringify(byAdmin.body)).not.toContain(
        byAdmin.body.error?.code,
      );
    },
    60_000,
  );

  it.each(sockets.map(({ name, route }) => [name, route] as const))(
    "%s: the same for a WebSocket",
    async (_, route) => {
      expect((await upgrade(bob, route, "bob-box")).status).toBe(101);
      expect((await upgrade(ana, route, "bob-box")).status).toBe(101);
      const foreign = await upgrade(carl, route, "bob-box");
      const none = await upgrade(carl, route, "no-such-box");
      expect(foreign.status).toBe(404);
      expect(foreign.body.replaceAll("bob-box", "BOX")).toBe(none.body.replaceAll("no-such-box", "BOX"));
    },
  );

  it.each(lists.map(({ name, route }) => [name, route] as const))("%s: is in no list", async (_, route) => {
    const { body } = await carl.ask("GET", route.path);
    expect(JSON.stringify(body)).not.toMatch(/bob-box|owner-box/);
  });

  it("is in the lists of those who see it", async () => {
    for (const path of ["/v1/boxes", "/v1/events?limit=1000"]) {
      const of = async (who: Visitor) => JSON.stringify((await who.ask("GET", path)).body);
      expect(await of(bob), path).toContain("bob-box");
      expect(await of(bob), path).not.toMatch(/carl-box|owner-box/);
      expect(await of(carl), path).toContain("carl-box");
      for (const name of ["bob-box", "carl-box", "owner-box"]) expect(await of(ana), path).toContain(name);
    }
    const boxes = (await ana.ask("GET", "/v1/boxes")).body["boxes"] as { name: string; person?: string }[];
    expect(Object.fromEntries(boxes.map(({ name, person }) => [name, person]))).toEqual({
      "bob-box": "Bob",
      "carl-box": "Carl",
      "owner-box": undefined,
    });
  });

  it.each(["/v1/events", "/v1/egress", "/v1/usage", "/v1/usage/requests"])(
    "%s: asked for by name, it is as if it did not exist",
    async (path) => {
      expect((await bob.ask("GET", `${path}?box=bob-box`)).status).toBe(200);
      const foreign = await carl.ask("GET", `${path}?box=bob-box`);
      const none = await carl.ask("GET", `${path}?box=no-such-box`);
      expect(withoutName(foreign, "bob-box")).toBe(withoutName(none, "no-such-box"));
      expect(JSON.stringify(foreign.body["events"] ?? [])).not.toContain("bob-box");
    },
  );

  it("is in no stream of events", async () => {
    const [ofBob, ofCarl] = [
      await bob.follow("/v1/events?follow=true&after=0"),
      await carl.follow("/v1/events?follow=true&after=0"),
    ];
    expect((await make(bob, "bob-second")).status).toBe(200);
    expect((await make(carl, "carl-second")).status).toBe(200);
    await signOut(bob);
    await signOut(carl);
    const [seenByBob, seenByCarl] = [await ofBob.ended, await ofCarl.ended];
    expect(seenByBob).toContain("bob-second");
    expect(seenByBob).not.toMatch(/carl-|owner-box/);
    expect(seenByCarl).toContain("carl-second");
    expect(seenByCarl).not.toMatch(/bob-|owner-box/);
    [bob, carl] = [await team.person("bob"), await team.person("carl")];
  });

  it("cannot be compared with, nor can its merge be taken back", async () => {
    for (const route of ["review", "patch"]) {
      const against = (who: Visitor, box: string, other: string) =>
        who.ask("GET", `/v1/boxes/${box}/${route}?against=${other}`);
      const foreign = await against(carl, "carl-box", "bob-box");
      expect(foreign.body.error?.code).toBe("box.not_found");
      expect(withoutName(foreign, "bob-box")).toBe(
        withoutName(await against(carl, "carl-box", "no-such-box"), "no-such-box"),
      );
      expect((await against(carl, "carl-box", "carl-second")).status, "control").toBe(200);
    }
    const undo = (box: string) => carl.ask("POST", "/v1/merges/undo", { box });
    expect(withoutName(await undo("bob-box"), "bob-box")).toBe(
      withoutName(await undo("no-such-box"), "no-such-box"),
    );
    expect((await carl.ask("POST", "/v1/merges/undo", { projectDir: project })).status).toBe(403);
  }, 120_000);
});

const signOut = (who: Visitor) => who.ask("POST", "/v1/me/sign-out", {});

describe("a shared box", () => {
  const share = (may: string, person = "carl@example.org") =>
    bob.ask("POST", "/v1/boxes/bob-box/shares", { may, with: { person } });
  const idOf = ({ body }: Answer) => (body["share"] as { id: string }).id;
  const roleOf = async (who: Visitor) =>
    ((await who.ask("GET", "/v1/boxes")).body["boxes"] as { name: string; role: string }[]).find(
      ({ name }) => name === "bob-box",
    )?.role;
  const stop = (who: Visitor) => who.ask("POST", "/v1/boxes/bob-box/stop", { noSuchField: 1 });
  const remove = (who: Visitor) => who.ask("DELETE", "/v1/boxes/bob-box?force=neither");

  it("can be looked at, worked with, and is gone when the share ends", async () => {
    expect(await roleOf(carl)).toBeUndefined();
    const look = idOf(await share("look"));
    expect(await roleOf(carl)).toBe("look");
    expect((await carl.ask("GET", "/v1/boxes/bob-box")).status).toBe(200);
    expect((await stop(carl)).status).toBe(403);
    const work = idOf(await share("work"));
    expect(await roleOf(carl)).toBe("work");
    expect((await stop(carl)).status, "let in, and told that the body is wrong").toBe(400);
    expect((await remove(carl)).status).toBe(403);
    expect((await carl.ask("GET", "/v1/boxes/bob-box/shares")).status).toBe(403);
    for (const id of [look, work])
      expect((await bob.ask("DELETE", `/v1/boxes/bob-box/shares?id=${id}`)).status).toBe(200);
    expect((await carl.ask("GET", "/v1/boxes/bob-box")).status).toBe(404);
    expect(await roleOf(carl)).toBeUndefined();
  });

  it("leaves nothing open when it ends, although its person stays signed in", async () => {
    const { route } = sockets.find(({ name }) => name === "exec")!;
    const id = idOf(await share("work"));
    const theirs = await hold(carl, route, "bob-box");
    const own = await hold(bob, route, "bob-box");
    expect((await bob.ask("DELETE", `/v1/boxes/bob-box/shares?id=${id}`)).status).toBe(200);
    // Cut, and not ended with an answer as one that asks for nothing is in the end.
    expect(await theirs.received).toBe("");
    expect(own.socket.destroyed).toBe(false);
    own.socket.destroy();
    expect((await carl.ask("GET", "/v1/me")).status).toBe(200);
  });

  it("goes to nobody by an address that they may have written themselves", async () => {
    team.provider.members.set("eve", { name: "Eve", email: "carla@example.org" });
    const eve = await team.person("eve");
    expect((await share("look", "carla@example.org")).status).toBe(404);
    expect(await roleOf(eve)).toBeUndefined();
  });
});

describe("what a member may ask for", () => {
  it("is a box of a project that is listed, and no other directory", async () => {
    const elsewhere = await make(carl, "carl-other", { projectDir: team.daemon.home });
    const nowhere = await make(carl, "carl-other", { projectDir: "/no/such/place" });
    expect(elsewhere.body.error?.code).toBe("workspace.source_invalid");
    expect(withoutName(elsewhere, team.daemon.home)).toBe(withoutName(nowhere, "/no/such/place"));
    // A way around: the listed directory's own name in front.
    expect((await make(carl, "carl-other", { projectDir: `${project}/../` })).status).toBe(400);
    expect((await make(ana, "ana-box", { projectDir: team.daemon.scratch })).status, "an admin").toBe(200);
    expect((await carl.ask("POST", "/v1/manifest/check", { projectDir: team.daemon.home })).status).toBe(400);
    const { projects } = (await carl.ask("GET", "/v1/projects")).body as { projects: { dir: string }[] };
    expect(projects.map(({ dir }) => dir)).toEqual([project]);
  });

  it.each<[string, object]>([
    ["mounts", { flags: { mounts: [{ source: "/etc", target: "/data" }] } }],
    ["secrets", { flags: { secrets: { github: { service: "github" } } } }],
    ["exceptions", { flags: { security: { exceptions: {} } } }],
    ["trust of their own", { trust: "sha256:0" }],
    ["variables of the host", { variables: { OPENAI_API_KEY: "mine" } }],
  ])("is not %s", async (_, more) => {
    expect((await make(carl, "carl-asks", more)).body.error?.code).toBe("access.forbidden");
  });

  it.each<[string, object]>([
    ["a host", { network: { allow: ["api.example.org"] } }],
    ["the project itself", { workspace: { mode: "mount" } }],
  ])("is %s only with a yes of somebody of the host", async (_, flags) => {
    const more = { flags, trust: undefined };
    expect((await make(carl, "carl-asks", more)).body.error?.code).toBe("trust.required");
    // The same, typed by an admin, is an order.
    const byAdmin = await make(ana, "ana-asks", more);
    expect(byAdmin.status, JSON.stringify(byAdmin.body)).toBe(200);
    await ana.ask("DELETE", "/v1/boxes/ana-asks?force=true");
  });

  it("is given by an admin for exactly what a manifest asks, and by no member", async () => {
    const manifest = { file: "agentbox.toml", text: 'version = 1\n[network]\nallow = ["api.example.org"]\n' };
    expect((await make(carl, "carl-asks", { manifest })).body.error?.code).toBe("trust.required");
    const question = { projectDir: project, manifest };
    expect((await carl.ask("POST", "/v1/trust/ask", question)).status).toBe(403);
    const { digest } = (await ana.ask("POST", "/v1/trust/ask", question)).body;
    expect((await carl.ask("POST", "/v1/trust", { ...question, digest })).status).toBe(403);
    expect((await ana.ask("POST", "/v1/trust", { ...question, digest })).status).toBe(200);
    expect((await make(carl, "carl-asks", { manifest })).status).toBe(200);
    // Other values are still not covered.
    const more = { manifest, flags: { network: { allow: ["more.example.org"] } } };
    expect((await make(carl, "carl-more", more)).body.error?.code).toBe("trust.required");
    const policy = (body: object) => carl.ask("POST", "/v1/boxes/carl-asks/policy", body);
    expect((await policy({ flags: { network: { allow: ["more.example.org"] } } })).body.error?.code).toBe(
      "trust.required",
    );
    expect((await policy({ projectDir: project, manifest })).status).toBe(200);
  });
});

describe("whose box it is", () => {
  it("survives a restart, and is not taken over by a name", async () => {
    await team.daemon.stop();
    await team.daemon.start();
    await waitFor("the dashboard is open again", async () =>
      bob.ask("GET", "/v1/me").then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    expect((await bob.ask("GET", "/v1/boxes/bob-box")).status).toBe(200);
    expect((await carl.ask("GET", "/v1/boxes/bob-box")).status).toBe(404);

    await bob.ask("POST", "/v1/boxes/bob-box/shares", { may: "work", with: { person: "carl@example.org" } });
    expect((await carl.ask("GET", "/v1/boxes/bob-box")).status).toBe(200);
    expect((await bob.ask("DELETE", "/v1/boxes/bob-box?force=true")).status).toBe(200);
    await team.daemon.client.createBox({ name: "bob-box", start: false });
    for (const who of [bob, carl]) expect((await who.ask("GET", "/v1/boxes/bob-box")).status).toBe(404);
    expect((await ana.ask("GET", "/v1/boxes/bob-box")).status).toBe(200);
  });

  it("goes with a fork to whoever made it", async () => {
    expect((await make(bob, "bob-third")).status).toBe(200);
    const fork = await bob.ask("POST", "/v1/boxes/bob-third/fork", { name: "bob-fork" });
    expect(fork.status, JSON.stringify(fork.body)).toBe(200);
    expect((await bob.ask("GET", "/v1/boxes/bob-fork")).status).toBe(200);
    expect((await carl.ask("GET", "/v1/boxes/bob-fork")).status).toBe(404);
  }, 120_000);
});

const askSocket = (who: Visitor, route: Route, box: string) =>
  httpRequest(who.origin + target(route, box), {
    headers: {
      ...who.headers(),
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": Buffer.from("0123456789abcdef").toString("base64"),
      "sec-websocket-protocol": `agentbox, key.${who.key}`,
    },
  });

/** A WebSocket that asks for nothing; `received` is all that came when it is over. */
function hold(
  who: Visitor,
  route: Route,
  box: string,
): Promise<{ socket: Duplex; received: Promise<string> }> {
  return new Promise((resolve, reject) => {
    const request = askSocket(who, route, box);
    request.on("upgrade", (_answer, socket) => {
      let text = "";
      socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
      socket.on("error", () => undefined);
      const received = new Promise<string>((end) => void socket.on("close", () => end(text)));
      socket.on("end", () => socket.end());
      resolve({ socket, received });
    });
    request.on("response", ({ statusCode }) => reject(new Error(`It was refused: ${statusCode}`)));
    request.on("error", reject);
    request.end();
  });
}

function upgrade(who: Visitor, route: Route, box: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = askSocket(who, route, box);
    request.on("upgrade", (_answer, socket) => {
      socket.destroy();
      resolve({ status: 101, body: "" });
    });
    request.on("response", (answer) => {
      let body = "";
      answer.on("data", (chunk: Buffer) => (body += chunk.toString()));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    request.on("error", reject);
    request.end();
  });
}
