import { expect, it } from "vitest";
import { planRunners, raceOf } from "./race.ts";

it("names the runners of a race so that they are known again", () => {
  const runners = planRunners({ agents: ["claude", "codex"], count: 2 }, []);
  expect(runners.map(({ box }) => box)).toEqual([
    "race-1-claude-1",
    "race-1-claude-2",
    "race-1-codex-1",
    "race-1-codex-2",
  ]);
  for (const { agent, box } of runners) expect(raceOf({ name: box, agent })).toBe("race-1");
});

it("takes the first heat whose names are free", () => {
  const taken = ["race-1-claude", "race-2-gemini-1", "shop"];
  expect(planRunners({ agents: ["claude", "codex"], count: 1 }, taken).map(({ box }) => box)).toEqual([
    "race-3-claude",
    "race-3-codex",
  ]);
  expect(planRunners({ agents: ["claude", "codex"], count: 1, stem: "fix" }, taken)[0]?.box).toBe(
    "fix-1-claude",
  );
});

it("refuses fewer than two runners, and more than sixteen", () => {
  for (const [agents, count] of [
    [["claude"], 1],
    [[], 3],
    [["claude"], 17],
  ] as const)
    expect(() => planRunners({ agents, count }, [])).toThrow(/needs 2 to 16 runners/);
  expect(planRunners({ agents: ["claude"], count: 16 }, [])).toHaveLength(16);
});
