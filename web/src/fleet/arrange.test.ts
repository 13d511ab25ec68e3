import { expect, it } from "vitest";
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";
import { arrange, countStates, everything, groupOf, linesOf } from "./arrange.ts";

const box = (name: string, more: Partial<BoxSummary> = {}): BoxSummary => ({
  name,
  phase: "stopped",
  agent: "shell",
  runtime: "memory",
  createdAtMs: 1,
  sinceMs: 1,
  restarts: 0,
  needs: [],
  ...more,
});

const fleet = [
  box("team-app-backend", { agent: "claude", phase: "running", agentState: "working", branch: "topic" }),
  box("team-app-frontend", { projectDir: "/p/one", costMicroUsd: 5 }),
  box("team-web", { phase: "running", agentState: "waiting", createdAtMs: 9 }),
  box("solo", { verdict: "done", changedFiles: 2 }),
];
const namesOf = (wish: Partial<typeof everything>) =>
  arrange(fleet, { ...everything, ...wish }).flatMap(({ boxes }) => boxes.map(({ name }) => name));

it("puts what needs a person first, or follows another order", () => {
  expect(namesOf({})).toEqual(["team-web", "team-app-backend", "solo", "team-app-frontend"]);
  expect(namesOf({ order: "name" })[0]).toBe("solo");
  expect(namesOf({ order: "newest" })[0]).toBe("team-web");
  expect(namesOf({ order: "cost" })[0]).toBe("team-app-frontend");
});

it("finds by every word, in any order and place", () => {
  expect(namesOf({ search: "TOPIC claude" })).toEqual(["team-app-backend"]);
  expect(namesOf({ search: "waiting" })).toEqual(["team-web"]);
  expect(namesOf({ search: "nothing like it" })).toEqual([]);
});

it("filters by state, agent and project", () => {
  expect(namesOf({ state: "done" })).toEqual(["solo"]);
  expect(namesOf({ agent: "claude" })).toEqual(["team-app-backend"]);
  expect(namesOf({ project: "/p/one" })).toEqual(["team-app-frontend"]);
});

it("groups by the words of a name", () => {
  expect(groupOf("team-app-backend")).toEqual(["team", "app"]);
  const groups = arrange(fleet, { ...everything, isGrouped: true });
  expect(groups.map(({ path }) => path.join(" › "))).toEqual(["", "team", "team › app"]);
});

it("makes lines of as many boxes as stand beside each other, and none of a closed group", () => {
  const groups = arrange(fleet, { ...everything, isGrouped: true });
  expect(linesOf(groups, 1, new Set()).map(({ kind }) => kind)).toEqual([
    "heading",
    "boxes",
    "heading",
    "boxes",
    "heading",
    "boxes",
    "boxes",
  ]);
  expect(linesOf(groups, 2, new Set(["team-app"]))).toHaveLength(5);
  expect(linesOf(arrange(fleet, everything), 3, new Set())).toHaveLength(2);
});

it("counts states", () => {
  expect(Object.fromEntries(countStates(fleet))).toEqual({
    working: 1,
    stopped: 1,
    "waiting for you": 1,
    done: 1,
  });
});
