import { describe, expect, it } from "vitest";
import type { Visibility } from "../core/access/visibility.ts";
import { handlers } from "./handlers/handlers.ts";
import { networkHandlers } from "./handlers/network-handlers.ts";
import { reviewHandlers } from "./handlers/review-handlers.ts";

const visibility = (isOfHost: boolean): Visibility =>
  ({ isOfHost, principal: { kind: "person" }, roleOn: async () => "own" }) as unknown as Visibility;

describe("what a member cannot do with a box of their own", () => {
  it("is saying yes for it: a no is theirs, a yes is the host's", async () => {
    const answers: string[] = [];
    const core = {
      approvals: {
        find: () => ({ id: 7, box: "own" }),
        answer: async (_id: number, { answer }: { answer: string }) => void answers.push(answer),
      },
    };
    const answer = (access: Visibility, body: object) =>
      networkHandlers.answerApproval({ deps: { core }, params: { approval: "7" }, body, access } as never);
    await answer(visibility(true), { answer: "allow", scope: "box" });
    await answer(visibility(false), { answer: "deny", scope: "once" });
    await expect(answer(visibility(false), { answer: "allow", scope: "once" })).rejects.toMatchObject({
      code: "access.forbidden",
    });
    expect(answers).toEqual(["allow", "deny"]);
  });

  it("is saying yes to the use of a secret, for a token without trust", async () => {
    const answers: string[] = [];
    const refused: object[] = [];
    const core = {
      access: { refused: (_: string, facts: object) => void refused.push(facts) },
      approvals: {
        find: (id: number) => (id === 7 ? { id, box: "own", secret: "token" } : { id, box: "own" }),
        answer: async (id: number, { answer }: { answer: string }) => void answers.push(`${id} ${answer}`),
      },
    };
    const of = (scopes: string[]) => ({
      isOfHost: true,
      credential: { kind: "token", id: "t" },
      principal: { kind: "token", id: "t", of: { kind: "owner" }, scopes },
    });
    const answer = (id: number, word: string, scopes: string[]) =>
      networkHandlers.answerApproval({
        deps: { core },
        params: { approval: `${id}` },
        body: { answer: word, scope: "once" },
        access: of(scopes),
      } as never);
    await answer(7, "allow", ["approve", "trust"]);
    await answer(7, "deny", ["approve"]);
    await answer(8, "allow", ["approve"]);
    await expect(answer(7, "allow", ["approve"])).rejects.toMatchObject({ code: "access.forbidden" });
    expect(answers).toEqual(["7 allow", "7 deny", "8 allow"]);
    expect(refused).toMatchObject([{ route: "answerApproval", parameter: "secret", needs: "trust" }]);
  });

  it("is taking back a merge of an earlier box that had its name", async () => {
    const merge = { box: "own", isUndone: false };
    const merges = [
      { ...merge, id: 1, incarnation: "earlier", projectDir: "/theirs" },
      { ...merge, id: 2, incarnation: "now", projectDir: "/mine" },
    ];
    const undone: number[] = [];
    const core = {
      locked: (_: string, task: () => unknown) => task(),
      commit: async () => undefined,
      event: () => undefined,
      ports: {
        store: {
          findBox: async () => ({ name: "own", incarnation: "now" }),
          listReview: async (_: string, want: object) =>
            merges.filter((one) => Object.entries(want).every(([key, is]) => one[key as "id"] === is)),
        },
        merges: { undo: async ({ id }: { id: number }) => void undone.push(id) },
      },
    };
    const undo = (projectDir: string, isOfHost = false) =>
      reviewHandlers.undoMerge({
        deps: { core },
        body: { box: "own", projectDir },
        access: { ...visibility(isOfHost), roleOnLife: () => "own" },
      } as never);
    await expect(undo("/theirs")).rejects.toMatchObject({ code: "review.nothing" });
    expect(await undo("/mine")).toMatchObject({ merge: { id: 2 } });
    await undo("/theirs", true);
    expect(undone).toEqual([2, 1]);
  });
});

it.each([
  ["own", ["read", "work"], "canary"],
  ["work", ["read", "work"], "canary"],
  ["look", ["read"], ""],
  ["own", ["read"], ""],
])("the values of a box's variables, for the role %s and the scopes %j", async (role, scopes, shown) => {
  const box = { name: "one", incarnation: "i", spec: { env: { A: "canary" }, services: [], mcp: [] } };
  const core = {
    getBox: async () => box,
    live: new Map(),
    ports: {
      runtimes: { get: async () => ({ find: async () => undefined }) },
      storage: { dirs: () => ({ home: "", workspace: "" }) },
    },
  };
  const access = { ...visibility(false), scopes, roleOnLife: () => role };
  const answer = await handlers.getBox({ deps: { core }, params: { box: "one" }, access } as never);
  expect(answer).toMatchObject({ box: { name: "one", spec: { env: { A: shown } } } });
});
