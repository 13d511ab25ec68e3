import { describe, expect, it } from "vitest";
import { noUsage } from "../../contract/model/usage.ts";
import { usedUp } from "./decide-task.ts";

const sum = (input: number, costMicroUsd: number) => ({ usage: { ...noUsage, input }, costMicroUsd });

describe("the total of a queue", () => {
  it.each([
    [{ tokens: 100 }, [sum(60, 0), sum(39, 0)], undefined],
    [{ tokens: 100 }, [sum(60, 0), sum(40, 0)], "Its tasks have used 100 of 100 tokens together."],
    [{ usd: 5 }, [sum(1, 2_000_000), sum(1, 2_999_999)], undefined],
    [{ usd: 5 }, [sum(1, 2_000_000), sum(1, 3_020_000)], "Its tasks have used $5.02 of $5.00 together."],
    [{ tokens: 1, usd: 5 }, [sum(1, 0)], "Its tasks have used 1 of 1 tokens together."],
    [{}, [sum(1_000, 1_000_000)], undefined],
  ])("%j", (total, sums, why) => {
    expect(usedUp(total, sums)).toBe(why);
  });
});
