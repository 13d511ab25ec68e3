import { expect, it } from "vitest";
import { agents } from "./index.ts";

it.each(Object.entries(agents))("%s is complete", (name, agent) => {
  expect(agent.name).toBe(name);
  expect(agent.description).toMatch(/\.$/);
  expect(agent.interactive([]).length).toBeGreaterThan(0);
});

it("runs exactly the command that was typed, without a shell in between", () => {
  const typed = ["grep", "-r", "$(touch /tmp/x)", "a b"];
  expect(agents["shell"]!.headless(typed)).toEqual(typed);
  expect(agents["shell"]!.interactive(typed)).toEqual(typed);
});
