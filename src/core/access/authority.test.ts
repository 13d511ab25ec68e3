import { describe, expect, it } from "vitest";
import type { Principal } from "../../contract/access/principal.ts";
import type { Need } from "../../contract/access/limits/limit.ts";
import { routeTable } from "../../contract/api/routes.ts";
import { type Scope, scopes } from "../../contract/access/scope-names.ts";
import type { Core } from "../context.ts";
import { hasAuthority, requireAuthority } from "./authority.ts";
import { type Caller, socketOwner } from "./caller.ts";

const owner = { kind: "owner" } as const;
const member = { kind: "person", id: "p1", name: "Ana", isAdmin: false } as const;
const admin = { ...member, isAdmin: true } as const;
const guest = { kind: "guest", share: "s", box: "b", incarnation: "i", may: "work" } as const;
const inBrowser = (principal: Principal): Caller => ({ principal, credential: { kind: "session", id: "1" } });
const token = (of: typeof owner | typeof member | typeof admin, held: readonly Scope[]): Caller => ({
  principal: { kind: "token", id: "t", name: "ci", scopes: held, of },
  credential: { kind: "token", id: "t" },
});
const ordinary = scopes.filter((scope) => scope !== "trust" && scope !== "export");
const needs: readonly Need[] = ["look", "trust", "export", "socket"];

describe("how far a word goes", () => {
  it.each<[string, Caller, readonly Need[]]>([
    ["the owner at the socket", socketOwner, needs],
    ["the owner in a browser", inBrowser(owner), ["look", "trust"]],
    ["an admin in a browser", inBrowser(admin), ["look", "trust"]],
    ["a member in a browser", inBrowser(member), ["look"]],
    ["a guest", inBrowser(guest), ["look"]],
    ["a token of the owner", token(owner, ordinary), []],
    ["a token of the owner for trust", token(owner, ["trust"]), ["look", "trust"]],
    ["a token of the owner for export", token(owner, ["export"]), ["export"]],
    ["a token of an admin", token(admin, ordinary), []],
    ["a token of a member with every scope", token(member, scopes), ["look"]],
  ])("of %s", (_, caller, allowed) => {
    expect(needs.filter((need) => hasAuthority(caller, need))).toEqual(allowed);
  });

  it("is refused by name, with the way out, and written down", () => {
    const noted: unknown[] = [];
    const core = { access: { refused: (...fact: unknown[]) => void noted.push(fact) } } as unknown as Core;
    const source = { kind: "command", argv: ["id"] };
    const add = (caller: Caller) => () => requireAuthority(core, caller, "addSecret", { source });
    expect(add(socketOwner)).not.toThrow();
    expect(add(token(owner, ["secrets"]))).toThrow(
      "An access token cannot name a file or a command of the host as the place of a secret.",
    );
    expect(add(inBrowser(owner))).toThrow(
      "Only the owner, at the command line, can name a file or a command of the host as the place of a secret.",
    );
    expect(noted).toHaveLength(2);
    expect(noted[0]).toEqual([
      "authority",
      { route: "addSecret", parameter: "source", needs: "socket", who: "token", id: "t" },
    ]);
    const hint = {
      hint: expect.stringContaining("This needs a yes at the command line: agentbox vault set") as string,
    };
    try {
      add(inBrowser(owner))();
    } catch (error) {
      expect(error).toMatchObject(hint);
    }
    expect.assertions(6);
  });

  it("names every parameter of a route once", () => {
    for (const [route, { limits = [] }] of Object.entries(routeTable)) {
      const names = limits.map(({ parameter }) => parameter);
      expect(new Set(names).size, route).toBe(names.length);
    }
  });
});
