/** People of a team on a core without edges: how long they stay, and what their boxes may be. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { omitUndefined } from "../src/base/omit-undefined.ts";
import { CreateBox } from "../src/contract/api/schemas.ts";
import { personId } from "../src/core/team/persons.ts";
import { boxPerson } from "../src/core/team/members.ts";
import type { Core } from "../src/core/context.ts";
import { createBox } from "../src/core/box/create-box.ts";
import type { Identity, Recheck } from "../src/ports/identity.ts";
import { type TestHost, openTestCore, openTestHost } from "./support/core.ts";

const issuer = "https://id.example.org";
const claims = { issuer, subject: "ana", name: "Ana", isEmailVerified: false, groups: ["admins"] };
const ana = personId(claims);
const hourMs = 3_600_000;

let host: TestHost;
let core: Core & AsyncDisposable;
/** Later actions, in the order they were asked for. */
let later: (() => void)[];
let answer: Recheck;
let refreshToken: string | undefined;
let config: string;

beforeEach(async () => {
  host = await openTestHost();
  core = await openTestCore(host);
  later = [];
  answer = { outcome: "confirmed", claims };
  refreshToken = "r1";
  config = `[runtime]\nname = "memory"\n[web.sign_in]\nissuer = "${issuer}"\nclient_id = "x"\nadmin_group = "admins"\nmax_session = "3h"\n`;
  host.clock.after = (_ms, callback) => {
    later.push(callback);
    return () => void later.splice(later.indexOf(callback), 1);
  };
  const identity: Identity = {
    begin: async (_settings, redirectUri) => ({
      url: "https://id.example.org/auth",
      checks: { issuer, redirectUri, state: "s", nonce: "n", verifier: "v" },
    }),
    finish: async () => ({ claims, ...omitUndefined({ refreshToken }) }),
    recheck: async () => answer,
    readLogoutNotice: async () => ({ issuer, subject: "ana" }),
  };
  Object.assign(core.ports, { identity });
  Object.assign(core.ports.host, { readUserConfig: async () => ({ file: "config.toml", text: config }) });
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

async function signIn() {
  const { cookie, secret } = await core.team.begin("http://127.0.0.1/auth/callback");
  const claimed = await core.team.finish({ state: "s", code: "c" }, { cookies: [cookie], secret }, {});
  return { cookies: [claimed.cookie], key: claimed.key };
}

/** Time passes, and every person whose time has come is asked about. */
async function pass(ms: number): Promise<void> {
  host.clock.offsetMs += ms;
  const due = later;
  later = [];
  for (const callback of due) callback();
  // The work that was begun is a handful of promises, none of which waits for anything outside.
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const who = (session: Awaited<ReturnType<typeof signIn>>) => core.access.identifySession(session).principal;
const nobody = expect.objectContaining({ code: "access.unauthenticated" });

describe("how long somebody stays", () => {
  it("is as long as the provider says yes, and at most max_session", async () => {
    const stop = core.team.watch();
    const session = await signIn();
    for (let quarter = 0; quarter < 11; quarter += 1) {
      await pass(hourMs / 4);
      expect(who(session)).toMatchObject({ kind: "person", id: ana, isAdmin: true });
    }
    await pass(hourMs / 2);
    expect(() => who(session)).toThrow(nobody);
    stop();
  });

  it("is an hour without its word: when it is away, and when it gave no refresh token", async () => {
    const stop = core.team.watch();
    answer = { outcome: "unknown", reason: "away" };
    const away = await signIn();
    refreshToken = undefined;
    const without = await signIn();
    await pass(hourMs / 2);
    for (const session of [away, without]) expect(who(session)).toMatchObject({ id: ana });
    await pass(hourMs / 2 + 1_000);
    for (const session of [away, without]) expect(() => who(session)).toThrow(nobody);
    stop();
  });

  it("ends with its no, and so do tokens, until the person comes again", async () => {
    const stop = core.team.watch();
    const [one, other] = [await signIn(), await signIn()];
    await pass(hourMs / 4);
    expect(who(one)).toMatchObject({ id: ana });
    answer = { outcome: "ended", reason: "gone" };
    await pass(hourMs / 4);
    for (const session of [one, other]) expect(() => who(session)).toThrow(nobody);
    expect(core.access.records.state.people).toMatchObject([{ id: ana, isBarred: true, isAdmin: false }]);
    expect(who(await signIn())).toMatchObject({ id: ana, isAdmin: true });
    stop();
  });

  it("changes with what it says: an admin is one as long as the group says so", async () => {
    const stop = core.team.watch();
    const session = await signIn();
    let isEnded = false;
    core.access.hold(core.access.identifySession(session), () => (isEnded = true));
    answer = { outcome: "confirmed", claims: { ...claims, groups: [] } };
    await pass(hourMs / 4);
    expect(who(session)).toMatchObject({ id: ana, isAdmin: false });
    expect(isEnded, "what was open as an admin").toBe(true);
    stop();
  });

  it("ends when it is no longer the team's provider", async () => {
    const stop = core.team.watch();
    const session = await signIn();
    config = config.replace(issuer, "https://other.example.org");
    await pass(60_000);
    expect(() => who(session)).toThrow(nobody);
    stop();
  });
});

describe("a box of a member", () => {
  const flags = { runtime: { name: "memory" }, network: { allow: ["api.example.org"] } };
  const wanted = (name: string) => CreateBox.parse({ name, start: false, flags });

  it("is theirs, and what they typed is a request", async () => {
    const order = await createBox(core, wanted("by-admin"), { person: ana, isRequest: false });
    expect(boxPerson(core.access.records.state, order.box)).toBe(ana);
    expect(
      boxPerson(core.access.records.state, (await createBox(core, wanted("by-owner"))).box),
    ).toBeUndefined();
    await expect(createBox(core, wanted("asked"), { person: ana, isRequest: true })).rejects.toMatchObject({
      code: "trust.required",
    });
    const plain = CreateBox.parse({ name: "plain", start: false, flags: { runtime: flags.runtime } });
    expect((await createBox(core, plain, { person: ana, isRequest: true })).box.name).toBe("plain");
  });

  it("is of the directory that was judged, and not of what was put in its place since", async () => {
    config = config.replace("[web.sign_in]", '[web]\nprojects = ["/srv/shop"]\n[web.sign_in]');
    // A box with the project mounted replaces a directory of it with a link.
    let leadsTo = "/srv/shop/part";
    Object.assign(core.ports.host, {
      realPath: async (path: string) => (path === "/srv/shop/part" ? leadsTo : path),
    });
    Object.assign(core.ports.workspaces, { defaultMode: async () => "copy" });
    const make = (name: string, isRequest: boolean) => {
      const wish = {
        name,
        start: false,
        projectDir: "/srv/shop/part",
        flags: { runtime: { name: "memory" } },
      };
      return createBox(core, CreateBox.parse(wish), { person: ana, isRequest });
    };
    Object.assign(core.ports.workspaces, { prepare: async () => ({ leftBehind: 0 }) });
    expect((await make("listed", true)).box.projectDir).toBe("/srv/shop/part");
    leadsTo = "/home/ada/.ssh";
    await expect(make("swapped", true)).rejects.toMatchObject({ code: "workspace.source_invalid" });
    expect((await make("by-owner", false)).box.projectDir).toBe("/home/ada/.ssh");
  });

  it("asks for what the manifest and what was typed want together", async () => {
    const manifest = { file: "agentbox.toml", text: 'version = 1\n[network]\nallow = ["a.example.org"]\n' };
    const both = { ...wanted("both"), manifest };
    await expect(createBox(core, both, { person: ana, isRequest: true })).rejects.toMatchObject({
      code: "trust.required",
      facts: {
        requests: [expect.stringContaining("a.example.org"), expect.stringContaining("api.example.org")],
      },
    });
  });
});
