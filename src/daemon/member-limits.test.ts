import { describe, expect, it } from "vitest";
import type { Sight } from "../core/access/sight.ts";
import { networkHandlers } from "./network-handlers.ts";
import { reviewHandlers } from "./review-handlers.ts";

const sight = (isOfHost: boolean): Sight =>
  ({ isOfHost, principal: { kind: "person" }, roleOn: async () => "own" }) as unknown as Sight;

describe("what a member cannot do with a box of their own", () => {
  it("is saying yes for it: a no is theirs, a yes is the host's", async () => {
    const answers: string[] = [];
    const core = {
      approvals: {
        list: () => [{ id: 7, box: "own" }],
        answer: async (_id: number, { answer }: { answer: string }) => void answers.push(answer),
      },
    };
    const answer = (access: Sight, body: object) =>
      networkHandlers.answerApproval({ deps: { core }, params: { approval: "7" }, body, access } as never);
    await answer(sight(true), { answer: "allow", scope: "box" });
    await answer(sight(false), { answer: "deny", scope: "once" });
    await expect(answer(sight(false), { answer: "allow", scope: "once" })).rejects.toMatchObject({
      code: "access.forbidden",
    });
    expect(answers).toEqual(["allow", "deny"]);
  });

  it("is choosing among the owner's secrets when pushing", async () => {
    const push = (access: Sight) =>
      reviewHandlers.pushWork({
        deps: { core: { locked: async () => "pushed" } },
        params: { box: "own" },
        body: { secret: "production" },
        access,
      } as never);
    expect(await push(sight(true))).toEqual({ push: "pushed" });
    await expect(push(sight(false))).rejects.toMatchObject({ code: "access.forbidden" });
  });
});
