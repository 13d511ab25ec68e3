import { describe, expect, it } from "vitest";
import { openTestCore, openTestHost } from "../../../test/support/core.ts";
import { createBox } from "../box/create-box.ts";
import { CreateBox } from "../../contract/api/schemas.ts";
import { createShare } from "./keep-shares.ts";
import { createToken, removeToken } from "./keep-tokens.ts";
import { socketOwner } from "./caller.ts";
import { withBarred } from "../team/persons.ts";

const dayMs = 86_400_000;

async function ground() {
  const host = await openTestHost();
  const core = await openTestCore(host);
  const { access } = core;
  const signIn = async () => access.claim(access.createLink().code, { agent: "test\u001b[2J" });
  const identify = ({ cookie, key }: { cookie: string; key: string }) =>
    access.identifySession({ cookies: [cookie], key });
  return {
    host,
    core,
    access,
    signIn,
    identify,
    async [Symbol.asyncDispose]() {
      await core[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}

const unauthenticated = expect.objectContaining({ code: "access.unauthenticated" });

describe("a one-time link", () => {
  it("becomes one session, within five minutes", async () => {
    await using it = await ground();
    const { code } = it.access.createLink();
    const claimed = await it.access.claim(code, {});
    expect(it.identify(claimed).principal).toEqual({ kind: "owner" });
    await expect(it.access.claim(code, {})).rejects.toMatchObject({ code: "access.link_used" });
    const late = it.access.createLink();
    it.host.clock.offsetMs += 5 * 60_000 + 1;
    await expect(it.access.claim(late.code, {})).rejects.toMatchObject({ code: "access.link_used" });
  });

  it("is taken by one of two who open it at the same time", async () => {
    await using it = await ground();
    const { code } = it.access.createLink();
    const results = await Promise.allSettled([1, 2, 3].map(() => it.access.claim(code, {})));
    expect(results.filter(({ status }) => status === "fulfilled").length).toBe(1);
  });

  it("is nothing for a program of another user, and then for nobody", async () => {
    await using it = await ground();
    const { code } = it.access.createLink();
    for (const isForeign of [true, false])
      await expect(it.access.claim(code, { isForeign })).rejects.toMatchObject({ code: "access.link_used" });
    await it.access.claim(it.access.createLink().code, { isForeign: false });
    const noted = await it.core.ports.store.listEvents({ type: "access.refused", limit: 10 });
    expect(noted.map(({ data }) => data)).toContainEqual({ reason: "user" });
  });

  it("is one of few: the oldest goes", async () => {
    await using it = await ground();
    const first = it.access.createLink();
    const others = Array.from({ length: 64 }, () => it.access.createLink());
    await expect(it.access.claim(first.code, {})).rejects.toMatchObject({ code: "access.link_used" });
    await it.access.claim(others.at(0)!.code, {});
  });
});

describe("a session", () => {
  it("needs both halves", async () => {
    await using it = await ground();
    const [one, other] = [await it.signIn(), await it.signIn()];
    expect(() => it.identify({ cookie: one.cookie, key: other.key })).toThrow(unauthenticated);
    expect(() => it.identify({ cookie: one.key, key: one.cookie })).toThrow(unauthenticated);
    expect(() => it.identify({ cookie: "", key: "" })).toThrow(unauthenticated);
    // Another server on this host may have set a cookie of the same name beside ours.
    const cookies = ["planted", one.cookie];
    expect(it.access.identifySession({ cookies, key: one.key }).credential).toEqual({
      kind: "session",
      id: one.session.id,
    });
  });

  it("ends after a week of rest, and after a month in any case", async () => {
    await using it = await ground();
    const session = await it.signIn();
    for (let day = 6; day < 30; day += 6) {
      it.host.clock.offsetMs += 6 * dayMs;
      expect(it.identify(session).principal.kind).toBe("owner");
      // The use is written down in the background.
      await it.access.change((state) => state);
    }
    it.host.clock.offsetMs += 6 * dayMs + 1;
    expect(() => it.identify(session)).toThrow(unauthenticated);
    const idle = await it.signIn();
    it.host.clock.offsetMs += 7 * dayMs + 1;
    expect(() => it.identify(idle)).toThrow(unauthenticated);
  });

  it("ends what it has open, at once, and nobody else's", async () => {
    await using it = await ground();
    const [one, other] = [await it.signIn(), await it.signIn()];
    const ended: string[] = [];
    it.access.hold(it.identify(one), () => ended.push("one"));
    it.access.hold(it.identify(other), () => ended.push("other"));
    it.access.hold(it.identify(one), () => ended.push("released"))();
    await it.access.endSessions(({ id }) => id === one.session.id, "test");
    expect(ended).toEqual(["one"]);
    expect(() => it.identify(one)).toThrow(unauthenticated);
    expect(it.identify(other).principal.kind).toBe("owner");
  });

  it("is kept as digests, with a name that cannot reach a terminal", async () => {
    await using it = await ground();
    const { cookie, key } = await it.signIn();
    const kept = JSON.stringify(it.access.records.state);
    for (const secret of [cookie, key]) expect(kept).not.toContain(secret);
    expect(it.access.records.state.sessions[0]?.agent).not.toContain("\u001b");
  });

  it("is one of so many at most", async () => {
    await using it = await ground();
    const first = await it.signIn();
    for (let count = 0; count < 500; count += 1)
      await it.access.openSession({ kind: "owner" }, { how: "test" });
    expect(it.access.records.state.sessions.length).toBe(500);
    expect(() => it.identify(first)).toThrow(unauthenticated);
  });
});

describe("tries that fail", () => {
  it("are slowed down and written down in few lines, and lock nobody out", async () => {
    await using it = await ground();
    const session = await it.signIn();
    const codes = new Set<string>();
    for (let count = 0; count < 300; count += 1) {
      try {
        it.access.identifyToken(`abt_${count}`);
      } catch (error) {
        codes.add((error as { code: string }).code);
      }
    }
    expect([...codes]).toEqual(["access.unauthenticated", "access.too_many"]);
    expect(it.identify(session).principal.kind).toBe("owner");
    const { value } = await createToken(it.core, it.access.visibilityOf(socketOwner), {
      name: "a",
      scopes: ["read"],
    });
    expect(it.access.identifyToken(value).principal).toMatchObject({ kind: "token", scopes: ["read"] });
    const noted = await it.core.ports.store.listEvents({ type: "access.refused", limit: 1000 });
    expect(noted.length).toBe(10);
  });
});

describe("somebody whose rights change", () => {
  it("loses what is open: an admin who is no longer one, a person who is gone", async () => {
    await using it = await ground();
    const person = {
      id: "p1",
      issuer: "i",
      subject: "s",
      name: "Ada",
      isAdmin: true,
      signedInAtMs: Date.now(),
    };
    await it.access.change((state) => ({ ...state, people: [person] }));
    const session = await it.access.openSession({ kind: "person", person: "p1" }, { how: "test" });
    const caller = it.identify(session);
    expect(it.access.visibilityOf(caller).isOfHost).toBe(true);
    let isEnded = false;
    it.access.hold(caller, () => {
      isEnded = true;
    });
    await it.access.change((state) => ({
      ...state,
      people: state.people.map((one) => ({ ...one, isAdmin: false })),
    }));
    expect(isEnded).toBe(true);
    expect(it.access.visibilityOf(it.identify(session)).isOfHost).toBe(false);
    await it.access.change((state) => ({ ...state, people: [] }));
    expect(() => it.identify(session)).toThrow(unauthenticated);
  });

  it("loses what is open on a box when their share of it ends, while they stay signed in", async () => {
    await using it = await ground();
    const session = await it.signIn();
    let mayStill = true;
    const ended: string[] = [];
    it.access.hold(
      it.identify(session),
      () => ended.push("theirs"),
      () => mayStill,
    );
    it.access.hold(it.identify(session), () => ended.push("other"));
    await it.access.change((state) => ({ ...state }));
    expect(ended).toEqual([]);
    mayStill = false;
    await it.access.change((state) => ({ ...state }));
    expect(ended).toEqual(["theirs"]);
  });

  it("leaves no guest behind: a link that a person gave ends with their place in the team", async () => {
    await using it = await ground();
    const nowMs = it.core.ports.clock.nowMs();
    const person = { id: "p1", issuer: "i", subject: "s", name: "Ada", isAdmin: false, signedInAtMs: nowMs };
    const share = { id: "s1", box: "one", incarnation: "i1", may: "work" as const, createdAtMs: nowMs };
    await it.access.change((state) => ({
      ...state,
      people: [person],
      shares: [
        { ...share, by: "p1" },
        { ...share, id: "s2" },
      ],
    }));
    const guest = await it.access.openSession({ kind: "guest", share: "s1" }, { how: "test" });
    const owners = await it.access.openSession({ kind: "guest", share: "s2" }, { how: "test" });
    const caller = it.identify(guest);
    expect(caller.principal).toMatchObject({ kind: "guest", may: "work" });
    let isEnded = false;
    it.access.hold(caller, () => {
      isEnded = true;
    });
    await it.access.change((state) => withBarred(state, "p1"));
    expect(isEnded).toBe(true);
    expect(() => it.identify(guest)).toThrow(unauthenticated);
    expect(it.identify(owners).principal.kind).toBe("guest");
  });
});

describe("what a token has made", () => {
  it("ends with the token, and no later than it", async () => {
    await using it = await ground();
    const owner = it.access.visibilityOf(socketOwner);
    const wanted = { name: "one", flags: { runtime: { name: "memory" } }, start: false };
    await createBox(it.core, CreateBox.parse(wanted));
    const ttlMs = 3_600_000;
    const first = await createToken(it.core, owner, {
      name: "first",
      scopes: ["host", "read", "approve"],
      ttlMs,
    });
    const kept = await createToken(it.core, owner, { name: "kept", scopes: ["read"] });
    const as = (value: string) => it.access.visibilityOf(it.access.identifyToken(value));
    const second = await createToken(it.core, as(first.value), { name: "second", scopes: ["host", "read"] });
    const third = await createToken(it.core, as(second.value), { name: "third", scopes: ["read"] });
    const shared = await createShare(it.core, as(first.value), "one", { may: "look", with: { link: true } });
    const guest = await it.access.claim(shared.code!, {});
    const unopened = await createShare(it.core, as(first.value), "one", {
      may: "look",
      with: { link: true },
    });
    for (const end of [second.token.expiresAtMs, third.token.expiresAtMs, shared.share.expiresAtMs])
      expect(end).toBe(first.token.expiresAtMs);
    expect(it.identify(guest).principal).toMatchObject({ kind: "guest", box: "one" });

    await removeToken(it.core, owner, first.token.id);
    for (const { value } of [first, second, third])
      expect(() => it.access.identifyToken(value)).toThrow(unauthenticated);
    expect(() => it.identify(guest)).toThrow(unauthenticated);
    await expect(it.access.claim(unopened.code!, {})).rejects.toMatchObject({ code: "access.link_used" });
    expect(it.access.identifyToken(kept.value).principal).toMatchObject({ name: "kept" });
    const removed = await it.core.ports.store.listEvents({ type: "token.removed", limit: 10 });
    expect(new Set(removed.map(({ data }) => data["name"]))).toEqual(new Set(["first", "second", "third"]));
  });
});
