import { expect, it } from "vitest";
import type { BoxSummary } from "../../../../src/contract/api/schemas.ts";
import { racesOf } from "./races-of.ts";

const box = (name: string, agent: string, createdAtMs = 1): BoxSummary => ({
  name,
  agent,
  phase: "stopped",
  runtime: "bubblewrap",
  createdAtMs,
  sinceMs: 1,
  restarts: 0,
  needs: [],
});

it("finds boxes that run together, the newest race first", () => {
  const boxes = [
    box("race-1-claude", "claude"),
    box("race-1-codex", "codex"),
    box("race-2-claude-2", "claude", 5),
    box("race-2-claude-1", "claude", 4),
    box("my-shop-3-gemini", "gemini"),
    box("release-2-api", "claude"),
    box("release-2-web", "claude"),
  ];
  expect(racesOf(boxes).map(({ name, boxes: runners }) => [name, ...runners.map((one) => one.name)])).toEqual(
    [
      ["race-2", "race-2-claude-1", "race-2-claude-2"],
      ["race-1", "race-1-claude", "race-1-codex"],
    ],
  );
});
