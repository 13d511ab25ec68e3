import { describe, expect, it } from "vitest";
import type { Principal } from "../../contract/access/principal.ts";
import { AccessState } from "../../ports/access-records.ts";
import { type Visibility, visibilityOf } from "./visibility.ts";

const digest = "0".repeat(64);
const state = AccessState.parse({
  boxOwners: [{ box: "ada-shop", incarnation: "i1", person: "ada" }],
  shares: [
    { id: "s1", box: "ada-shop", incarnation: "i1", may: "look", person: "bob", createdAtMs: 0 },
    {
      id: "s2",
      box: "ada-shop",
      incarnation: "i1",
      may: "work",
      person: "eve",
      createdAtMs: 0,
      expiresAtMs: 50,
    },
    { id: "s3", box: "ada-shop", incarnation: "i1", may: "work", linkDigest: digest, createdAtMs: 0 },
  ],
});

const visibility = (principal: Principal, nowMs = 10): Visibility =>
  visibilityOf(
    { principal, credential: { kind: "session", id: "x" } },
    { state: () => state, findBox: async () => undefined, nowMs: () => nowMs },
  );
const person = (id: string, isAdmin = false): Principal => ({ kind: "person", id, name: id, isAdmin });
const shop = { box: "ada-shop", incarnation: "i1" };

describe("what somebody sees", () => {
  it("is everything for the owner and for admins", () => {
    for (const principal of [{ kind: "owner" } as const, person("root", true)]) {
      expect(visibility(principal).shows({})).toBe(true);
      expect(visibility(principal).roleOnLife(shop)).toBe("own");
    }
  });

  it("is what they own and what was shared with them, for as long as it was", () => {
    expect(visibility(person("ada")).roleOnLife(shop)).toBe("own");
    expect(visibility(person("bob")).roleOnLife(shop)).toBe("look");
    expect(visibility(person("eve")).roleOnLife(shop)).toBe("work");
    expect(visibility(person("eve"), 50).roleOnLife(shop)).toBeUndefined();
    expect(visibility(person("mallory")).roleOnLife(shop)).toBeUndefined();
  });

  it("is never what belongs to no box, or to another life of one", () => {
    for (const id of ["ada", "bob", "mallory"]) {
      expect(visibility(person(id)).shows({})).toBe(false);
      expect(visibility(person(id)).shows({ box: "ada-shop" })).toBe(false);
      expect(visibility(person(id)).shows({ box: "ada-shop", incarnation: "i2" })).toBe(false);
      expect(visibility(person(id)).shows({ box: "other", incarnation: "i1" })).toBe(false);
    }
    const guest: Principal = { kind: "guest", share: "s3", ...shop, may: "work" };
    expect(visibility(guest).roleOnLife(shop)).toBe("work");
    expect(visibility(guest).shows({ box: "ada-shop", incarnation: "i2" })).toBe(false);
  });

  it("is for a token what it is for the one it acts for", () => {
    const token = { kind: "token", id: "t", name: "ci", scopes: ["read"] } as const;
    expect(visibility({ ...token, of: { kind: "owner" } }).isOfHost).toBe(true);
    const ofBob = { ...token, of: { kind: "person", id: "bob", name: "bob", isAdmin: false } } as const;
    expect(visibility(ofBob).roleOnLife(shop)).toBe("look");
    expect(visibility(ofBob).shows({})).toBe(false);
  });
});
