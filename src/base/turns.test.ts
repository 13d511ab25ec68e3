import { describe, expect, it } from "vitest";
import { Turns } from "./turns.ts";

describe("Turns", () => {
  it("runs as many at a time as it was told, in the order in which they came", async () => {
    const turns = new Turns(2);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const tasks = [0, 1, 2, 3].map((number) =>
      turns.run(() => {
        begun.push(number);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await Promise.resolve();
    expect(begun).toEqual([0, 1]);
    ends[1]?.();
    await tasks[1];
    await Promise.resolve();
    expect(begun).toEqual([0, 1, 2]);
    ends[0]?.();
    await tasks[0];
    await Promise.resolve();
    ends[2]?.();
    ends[3]?.();
    await Promise.all(tasks);
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  it("goes on after a failure", async () => {
    const turns = new Turns(1);
    const failed = turns.run(() => Promise.reject(new Error("no")));
    const next = turns.run(async () => "yes");
    await expect(failed).rejects.toThrow("no");
    await expect(next).resolves.toBe("yes");
  });
});
