/** Threat 41: an identity that is not checked. Each lie is told to a sign-in that succeeds without it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { EventType } from "../../src/contract/events.ts";
import { Browser } from "../../src/services/connections/browser.fixture.ts";
import { claimsOf, signed, tampered, unsigned } from "../../src/services/identity/provider.fixture.ts";
import { type TestTeam, type Visitor, startTeam } from "../support/team.ts";

let team: TestTeam;
beforeAll(async () => {
  team = await startTeam();
  team.provider.members.set("ana", {
    name: "Ana",
    email: "ana@example.org",
    email_verified: true,
    groups: ["admins"],
  });
  team.provider.members.set("bob", { name: "Bob", groups: ["dev"] });
});
afterAll(() => team[Symbol.asyncDispose]());
afterEach(() => {
  team.provider.onTokenAnswer = (answer) => answer;
  team.provider.fault = undefined;
  team.configure("");
});

const refused = { status: 403, body: { error: { code: "sign_in.refused" } } };
const me = async (visitor: Visitor) => (await visitor.ask("GET", "/v1/me")).body;
const isIn = async (visitor: Visitor) => (await visitor.ask("GET", "/v1/me")).status === 200;

/** It is written after the answer has gone out. */
const noted = (type: EventType, data: Record<string, unknown>) =>
  waitFor(`${type} ${JSON.stringify(data)} is in the log`, async () => {
    const { events } = await team.daemon.client.listEvents({ type, order: "newest", limit: 50 });
    return events.some((event) => Object.entries(data).every(([key, value]) => event.data[key] === value));
  });

describe("a sign-in at the provider", () => {
  it("becomes a session of that person, and is written down", async () => {
    const ana = await team.person("ana");
    expect(await me(ana)).toMatchObject({ kind: "person", name: "Ana", isAdmin: true });
    const bob = await team.person("bob");
    expect(await me(bob)).toMatchObject({ kind: "person", name: "Bob", isAdmin: false });
    await noted("access.signed_in", { who: "person", person: (await me(bob))["person"], how: "sign_in" });
  });

  it("needs both halves of the session that came of it", async () => {
    const ana = await team.person("ana");
    const { key } = ana;
    ana.key = undefined;
    expect((await ana.ask("GET", "/v1/me")).status).toBe(401);
    const other = team.visitor();
    other.key = key;
    expect((await other.ask("GET", "/v1/me")).status).toBe(401);
  });

  it("happens by no address: a GET begins, finishes and ends nothing", async () => {
    const visitor = team.visitor();
    const { secret, ...query } = await visitor.answerOf("ana");
    const page = await visitor.ask("GET", `/auth/callback?${new URLSearchParams(query).toString()}`);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.headers.getSetCookie()).toEqual([]);
    for (const path of ["/auth/begin", "/auth/finish", "/auth/logout-notice"])
      expect(
        (await visitor.ask("GET", `${path}?${new URLSearchParams(query).toString()}`)).status,
        path,
      ).toBe(405);
    expect(await isIn(visitor)).toBe(false);
    // The code was touched by none of them.
    expect((await visitor.finish({ ...query, secret: secret! })).status).toBe(200);
  });

  it("takes no form of another page, and no page of another origin", async () => {
    const visitor = team.visitor();
    const answer = await visitor.answerOf("ana");
    const form = await fetch(`${team.origin}/auth/finish`, {
      method: "POST",
      headers: visitor.headers({ "content-type": "text/plain" }),
      body: JSON.stringify(answer),
    });
    expect(form.status).toBe(400);
    const foreign = await fetch(`${team.origin}/auth/finish`, {
      method: "POST",
      headers: visitor.headers({ "content-type": "application/json", origin: "https://evil.example" }),
      body: JSON.stringify(answer),
    });
    expect(foreign.status).toBe(403);
    expect((await visitor.finish(answer)).status).toBe(200);
  });
});

describe("an admin", () => {
  it("cannot leave a session of the owner behind, which no provider would end", async () => {
    const ana = await team.person("ana");
    expect((await ana.ask("GET", "/v1/secrets")).status, "of the host").toBe(200);
    expect((await ana.ask("POST", "/v1/web/link", {})).body.error?.code).toBe("access.forbidden");
    expect((await team.daemon.client.openLink()).url).toContain("#link=");
  });

  it("keeps no token that outlives the provider's word", async () => {
    team.provider.members.set("dora", { name: "Dora", groups: ["admins"] });
    const dora = await team.person("dora");
    const made = await dora.ask("POST", "/v1/tokens", { name: "ci", scopes: ["read", "secrets"] });
    const token = String(made.body["value"]);
    const use = async () =>
      (await fetch(`${team.origin}/v1/secrets`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await use()).toBe(200);
    team.provider.members.set("dora", { name: "Dora", groups: [] });
    await team.person("dora");
    expect(await use(), "no admin any more").toBe(403);
    team.configure('allowed_groups = ["dev"]');
    expect(await team.visitor().signIn("dora")).toMatchObject(refused);
    expect(await use(), "nobody any more").toBe(401);
  });
});

describe("the answer", () => {
  it("is taken once", async () => {
    const visitor = team.visitor();
    const answer = await visitor.answerOf("ana");
    expect((await visitor.finish(answer)).status).toBe(200);
    expect(await visitor.finish(answer)).toMatchObject(refused);
    await noted("access.refused", { reason: "sign_in", code: "sign_in.refused" });
  });

  it("is good only in the browser and the tab that began", async () => {
    // Login CSRF: the attacker's own sign-in, brought to the victim's browser with everything a page could know.
    const attacker = team.visitor();
    const answer = await attacker.answerOf("bob");
    const victim = team.visitor();
    expect(await victim.finish(answer)).toMatchObject(refused);
    expect(await isIn(victim)).toBe(false);

    const tab = team.visitor();
    const begun = await tab.answerOf("ana");
    expect(await tab.finish({ ...begun, secret: "another" })).toMatchObject(refused);

    // A state of one sign-in with the halves of another.
    const mixed = team.visitor();
    const [first, second] = [await mixed.answerOf("ana"), await mixed.answerOf("ana")];
    expect(await mixed.finish({ ...second, state: first["state"]! })).toMatchObject(refused);
  });

  it.each([
    ["of another issuer (mix-up)", { iss: "https://evil.example" }],
    ["with another state", { state: "another" }],
    ["with another code", { code: "another" }],
  ])("%s is refused", async (_, change) => {
    const visitor = team.visitor();
    const answer = await visitor.answerOf("ana");
    expect(await visitor.finish({ ...answer, ...change })).toMatchObject(refused);
    expect(await isIn(visitor)).toBe(false);
  });
});

describe("an id token", () => {
  const answerWith = (make: (token: string) => string) => {
    team.provider.onTokenAnswer = (answer) => ({ ...answer, id_token: make(String(answer["id_token"])) });
  };

  it("of our making is taken when nothing is wrong with it", async () => {
    answerWith((token) => signed(claimsOf(token)));
    expect((await team.visitor().signIn("ana")).status).toBe(200);
  });

  it.each<[string, (token: string) => string]>([
    ["signed by a stranger", (token) => signed(claimsOf(token), "stranger")],
    ["changed after it was signed", (token) => tampered(token, { groups: ["admins"] })],
    ["that nobody signed", (token) => unsigned(claimsOf(token))],
    ["for another client", (token) => signed({ ...claimsOf(token), aud: "another" })],
    ["from another issuer", (token) => signed({ ...claimsOf(token), iss: "https://evil.example" })],
    ["with another nonce", (token) => signed({ ...claimsOf(token), nonce: "another" })],
    ["that has ended", (token) => signed({ ...claimsOf(token), iat: 1_600_000_000, exp: 1_600_000_100 })],
  ])("%s is refused, and nobody is signed in", async (_, make) => {
    answerWith(make);
    const visitor = team.visitor();
    expect(await visitor.signIn("bob")).toMatchObject(refused);
    expect(await isIn(visitor)).toBe(false);
  });
});

describe("who may come in", () => {
  it("is decided by groups and verified addresses, at each sign-in", async () => {
    team.configure('allowed_groups = ["dev"]');
    expect((await team.visitor().signIn("bob")).status).toBe(200);
    team.configure('allowed_groups = ["other"]');
    expect(await team.visitor().signIn("bob")).toMatchObject(refused);
    // Admins always may.
    expect((await team.visitor().signIn("ana")).status).toBe(200);

    team.provider.members.set("eve", { name: "Eve", email: "eve@example.org", email_verified: true });
    team.configure('allowed_domains = ["example.org"]');
    expect((await team.visitor().signIn("eve")).status).toBe(200);
    team.provider.members.set("eve", { name: "Eve", email: "eve@example.org" });
    expect(await team.visitor().signIn("eve")).toMatchObject(refused);
  });

  it("ends what somebody had who may no more", async () => {
    const bob = await team.person("bob");
    expect(await isIn(bob)).toBe(true);
    team.configure('allowed_groups = ["other"]');
    expect(await team.visitor().signIn("bob")).toMatchObject(refused);
    expect(await isIn(bob)).toBe(false);
  });
});

describe("the provider's word", () => {
  const notice = (token: string) =>
    fetch(`${team.origin}/auth/logout-notice`, {
      method: "POST",
      body: new URLSearchParams({ logout_token: token }),
    });
  const about = (change: Record<string, unknown>) => (claims: Record<string, unknown>) => ({
    ...claims,
    sub: "bob",
    ...change,
  });

  it("that somebody has signed out ends their session and what it has open, at once", async () => {
    const [ana, bob] = [await team.person("ana"), await team.person("bob")];
    const { ended } = await bob.follow();
    expect((await notice(team.provider.logoutToken(about({})))).status).toBe(200);
    expect(await ended).toContain(": agentbox");
    expect(await isIn(bob)).toBe(false);
    expect(await isIn(ana)).toBe(true);
    await noted("access.signed_out", { who: "person", reason: "provider" });
  });

  it("comes from the provider itself when somebody signs out there", async () => {
    const visitor = team.visitor();
    const { url, secret } = await visitor.begin();
    const browser = new Browser("bob");
    const callback = await browser.agreeUntilCallback(url);
    await visitor.finish({ ...Object.fromEntries(callback.searchParams), secret });
    expect(await isIn(visitor)).toBe(true);
    await browser.signOut(`${team.provider.issuer}/session/end`);
    await waitFor("the session has ended", async () => !(await isIn(visitor)), 15_000);
  });

  it("is believed only from the provider, for us, now, and once", async () => {
    const bob = await team.person("bob");
    const token = team.provider.logoutToken(about({}));
    const forged = [
      team.provider.logoutToken(about({}), "stranger"),
      tampered(team.provider.logoutToken(about({ sub: "ana" })), { sub: "bob" }),
      unsigned(claimsOf(token)),
      team.provider.logoutToken(about({ aud: "another" })),
      team.provider.logoutToken(about({ iss: "https://evil.example" })),
      team.provider.logoutToken(about({ nonce: "n" })),
      team.provider.logoutToken(about({ events: {} })),
      team.provider.logoutToken(about({ iat: 1_600_000_000 })),
      "no token",
    ];
    for (const one of forged) expect((await notice(one)).status, one).toBe(403);
    expect(await isIn(bob)).toBe(true);
    await noted("access.refused", { reason: "logout_notice" });

    expect((await notice(token)).status).toBe(200);
    expect(await isIn(bob)).toBe(false);
    const again = await team.person("bob");
    expect((await notice(token)).status, "replayed").toBe(403);
    expect(await isIn(again)).toBe(true);
  });

  it("is asked for again: a lost group and a lost account count while somebody is signed in", async () => {
    team.configure('recheck = "1s"');
    team.provider.members.set("carl", { name: "Carl", groups: ["admins"] });
    const carl = await team.person("carl");
    expect(await me(carl)).toMatchObject({ isAdmin: true });
    const asAdmin = await carl.follow();

    team.provider.members.set("carl", { name: "Carl", groups: [] });
    await asAdmin.ended;
    expect(await me(carl)).toMatchObject({ isAdmin: false });
    expect((await carl.ask("GET", "/v1/secrets")).status).toBe(403);

    const asMember = await carl.follow();
    team.provider.members.delete("carl");
    await asMember.ended;
    expect(await isIn(carl)).toBe(false);
    expect(await team.visitor().signIn("bob")).toMatchObject({ status: 200 });
  });

  it("is not there when the provider is away: nobody comes in, nobody is thrown out, the daemon goes on", async () => {
    team.configure('recheck = "1s"');
    const bob = await team.person("bob");
    team.provider.fault = 503;
    const before = team.provider.requests.length;
    const visitor = team.visitor();
    const answer = { code: "x", state: "y", secret: "z" };
    expect((await visitor.finish(answer)).status).toBe(403);
    team.provider.fault = undefined;
    await waitFor("the provider was asked again", async () => team.provider.requests.length > before, 15_000);
    expect(await isIn(bob)).toBe(true);
  });

  it("counts only as long as it is the team's provider", async () => {
    team.configure('recheck = "1s"');
    const bob = await team.person("bob");
    const { ended } = await bob.follow();
    expect(await isIn(bob)).toBe(true);
    team.unconfigure();
    await ended;
    expect(await isIn(bob)).toBe(false);
    expect((await team.visitor().ask("POST", "/auth/options", {})).body).toEqual({});
    expect((await team.visitor().ask("POST", "/auth/begin", {})).status).toBe(404);
  });
});
