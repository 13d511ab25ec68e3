import { beforeEach, describe, expect, it } from "vitest";
import { AccessState } from "../../ports/access-records.ts";
import type { Box } from "../../contract/box.ts";
import type { Core } from "../context.ts";
import type { Visibility } from "../access/visibility.ts";
import { boxPerson, makerOf, requireProject, withBoxOwner } from "./members.ts";

const links: Record<string, string> = {
  "/srv/app": "/real/app",
  "/srv/app/link": "/etc",
  "/real/app/sub": "/real/app/sub",
};
let refused: string[] = [];
beforeEach(() => {
  refused = [];
});
const core = {
  access: { refused: (reason: string) => void refused.push(reason) },
  ports: {
    host: {
      realPath: async (path: string) => links[path] ?? (path.startsWith("/real") ? path : undefined),
      readUserConfig: async () => ({
        file: "config.toml",
        text: '[web]\nprojects = ["/srv/app", "/gone"]\n',
      }),
    },
  },
} as unknown as Core;

const person = { kind: "person", id: "p1", name: "Ana", isAdmin: false } as const;
const credential = { kind: "session" };
const member = { credential, principal: person, isOfHost: false } as unknown as Visibility;
const admin = {
  credential,
  principal: { ...person, isAdmin: true },
  isOfHost: true,
  mayOrder: true,
} as unknown as Visibility;
const token = {
  credential: { kind: "token" },
  principal: { kind: "token", of: person },
  isOfHost: false,
} as unknown as Visibility;

const ownersToken = {
  credential: { kind: "token" },
  principal: { kind: "token", of: { kind: "owner" } },
  isOfHost: true,
  mayOrder: false,
} as unknown as Visibility;

describe("a member's request", () => {
  it("is made for the person, as a request; an admin's is an order", () => {
    expect(makerOf(member)).toEqual({ person: "p1", isRequest: true, isInBrowser: true });
    expect(makerOf(token)).toEqual({ person: "p1", isRequest: true, isInBrowser: false });
    expect(makerOf(ownersToken)).toMatchObject({ isRequest: true, isInBrowser: false });
    expect(makerOf(admin)).toEqual({ person: "p1", isRequest: false, isInBrowser: true });
  });

  it.each([
    ["/srv/app", true],
    ["/real/app/sub", true],
    ["/srv/app/link", false],
    ["/real/application", false],
    ["/real", false],
    ["app", false],
    ["/gone", false],
  ])("is about the directory %s: %s", async (dir, isAllowed) => {
    const asked = requireProject(core, member, { projectDir: dir });
    if (isAllowed) await expect(asked).resolves.toBeUndefined();
    else await expect(asked).rejects.toMatchObject({ code: "workspace.source_invalid" });
    if (!isAllowed) expect(refused).toEqual(["authority"]);
    await expect(requireProject(core, admin, { projectDir: dir })).resolves.toBeUndefined();
    await expect(requireProject(core, member, {})).resolves.toBeUndefined();
  });
});

describe("whose box it is", () => {
  const box = { name: "one", incarnation: "i1" } as Box;

  it("goes by name and incarnation", () => {
    const state = withBoxOwner(AccessState.parse({}), box, "p1", []);
    expect(boxPerson(state, box)).toBe("p1");
    expect(boxPerson(state, { name: "one", incarnation: "i2" })).toBeUndefined();
    expect(boxPerson(state, { name: "two", incarnation: "i1" })).toBeUndefined();
  });

  it("is never forgotten for a box that is there, however many were removed since", () => {
    let state = withBoxOwner(AccessState.parse({}), box, "p1", [box]);
    const gone = Array.from({ length: 6_000 }, (_, index) => ({
      box: "x",
      incarnation: `x${index}`,
      person: "p2",
    }));
    state = { ...state, boxOwners: [...state.boxOwners, ...gone] };
    state = withBoxOwner(state, { name: "two", incarnation: "i2" }, "p2", [box]);
    expect(state.boxOwners.length).toBeLessThan(5_100);
    expect(boxPerson(state, box)).toBe("p1");
  });
});
