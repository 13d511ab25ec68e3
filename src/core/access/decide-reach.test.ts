import { describe, expect, it } from "vitest";
import { harms, harmsOf } from "../../contract/access/harms.ts";
import { type BoxRole, boxRoles, type Principal } from "../../contract/access/principal.ts";
import { scopes } from "../../contract/access/scope-names.ts";
import { routeTable } from "../../contract/api/routes.ts";
import { decideReach } from "./decide-reach.ts";

const owner: Principal = { kind: "owner" };
const person: Principal = { kind: "person", id: "p1", name: "Ada", isAdmin: false };
const admin: Principal = { kind: "person", id: "p2", name: "Grace", isAdmin: true };
const guest: Principal = { kind: "guest", share: "s1", box: "shop", incarnation: "i1", may: "work" };
const looker: Principal = { ...guest, may: "look" };

describe("who may use a route", () => {
  it("lets the owner and admins use every one", () => {
    for (const access of Object.values(routeTable))
      for (const principal of [owner, admin])
        expect(decideReach(principal, access, undefined).allow).toBe(true);
  });

  it("keeps everybody else from the host, whatever their role on a box is", () => {
    for (const principal of [person, guest, looker])
      for (const role of [undefined, ...boxRoles])
        expect(decideReach(principal, { scope: "read", reach: "host" }, role).allow).toBe(false);
  });

  it("asks for a role at least as great", () => {
    for (const [index, wanted] of boxRoles.entries())
      for (const [given, role] of boxRoles.entries())
        expect(decideReach(person, { scope: "read", reach: wanted }, role).allow).toBe(given >= index);
  });

  it("does not tell a box of somebody else from none", () => {
    // Before the scope, or who has not the scope would learn that the box is there.
    for (const principal of [person, guest, looker])
      for (const reach of boxRoles)
        expect(decideReach(principal, { scope: "secrets", reach }, undefined)).toEqual({
          allow: false,
          reason: "unseen",
        });
  });

  it("holds a token to its scopes, and to the one it acts for", () => {
    const token = { kind: "token", id: "t", name: "ci", scopes: ["read"], of: owner } as const;
    expect(decideReach(token, { scope: "read", reach: "host" }, undefined).allow).toBe(true);
    expect(decideReach(token, { scope: "work", reach: "visible" }, undefined)).toMatchObject({
      reason: "scope",
    });
    expect(decideReach(token, { scope: "none", reach: "anyone" }, undefined).allow).toBe(true);
    const ofPerson = { ...token, of: person };
    expect(decideReach(ofPerson, { scope: "read", reach: "host" }, undefined)).toMatchObject({
      reason: "host",
    });
    expect(decideReach(ofPerson, { scope: "read", reach: "look" }, "look").allow).toBe(true);
  });

  it("keeps guests out of what is the team's", () => {
    expect(decideReach(guest, { scope: "read", reach: "member" }, "work")).toMatchObject({ reason: "guest" });
    expect(decideReach(person, { scope: "read", reach: "member" }, undefined).allow).toBe(true);
    expect(decideReach(looker, { scope: "work", reach: "work" }, "look")).toMatchObject({ allow: false });
  });
});

describe("the table of routes", () => {
  it("asks for a role exactly where there is a box to have it on", () => {
    for (const [name, { reach, path }] of Object.entries(routeTable)) {
      const isBoxed = path.includes("{box}");
      if (!isBoxed) expect(["look", "work", "own"], name).not.toContain(reach);
      else expect(["look", "work", "own", "host"], name).toContain(reach);
    }
  });

  it("gives nobody who may only look a route that changes something", () => {
    const readingPosts = ["explainPolicy"];
    for (const [name, { reach, scope, method }] of Object.entries(routeTable)) {
      if (method !== "GET" && reach === "look") expect(readingPosts).toContain(name);
      if (method !== "GET" && scope === "read")
        expect([...readingPosts, "checkManifest"], name).toContain(name);
    }
  });

  it("gives everybody who is signed in only what says who they are", () => {
    const open = Object.entries(routeTable)
      .filter(([, { reach, scope }]) => reach === "anyone" || scope === "none")
      .map(([name]) => name);
    expect(open.sort()).toEqual(["getInfo", "getMe", "livez", "openapi", "signOut"]);
  });
});

describe("what a route is worth to a thief", () => {
  const of = (principal: Principal, ...roles: BoxRole[]) =>
    harmsOf((access) => roles.some((role) => decideReach(principal, access, role).allow)).sort();

  // If this changes, read the part of docs/sign-in.md about guests and members again.
  it("of a guest is to see, and to use the box where that was shared", () => {
    expect(of(looker, "look")).toEqual(["see"]);
    expect(of(guest, "work")).toEqual(["destroy", "see", "use"]);
  });

  it("of a member is what can be done with boxes of their own", () => {
    const own = [
      "answer",
      "destroy",
      "doors",
      "land",
      "make",
      "narrow",
      "see",
      "share",
      "steer",
      "tell",
      "try",
      "use",
    ];
    expect(of(person, ...boxRoles)).toEqual(own);
    // Also where the thief makes a token of every scope.
    const token: Principal = { kind: "token", id: "t", name: "ci", scopes: [...scopes], of: person };
    expect(of(token, ...boxRoles)).toEqual(own);
  });

  it("of an admin is everything that has a route", () => {
    expect(of(admin, "own")).toEqual(Object.keys(harms).sort());
  });
});
