/** `agentbox tour` is the first thing that a user sees: `npm start` ends with it. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

it("shows the demo agent at work in a box, and leaves the repository and the machine as they were", async () => {
  const { code, stdout, stderr } = await daemon.cli(["tour"]);
  expect(stderr).not.toContain("error[");
  expect(code).toBe(0);
  expect(stdout).toContain("The demo agent goes to work in it");
  expect(stdout).toMatch(/untouched\s+the work stays in the box/);
  expect(stdout).not.toContain("CHANGED");
  expect(await daemon.client.listBoxes()).toEqual([]);
});
