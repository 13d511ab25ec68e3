import { expect, it } from "vitest";
import { runtimeModules } from "./builtins.ts";
import { openRuntimes } from "./runtimes.ts";

it("offers no runtime that is for tests, and opens it for whoever names it", async () => {
  await using runtimes = openRuntimes(runtimeModules, "/nowhere");
  expect(runtimes.names).toContain("memory");
  expect(runtimes.offered).toEqual(["bubblewrap", "docker", "gvisor"]);
  expect((await runtimes.get("memory")).name).toBe("memory");
  await expect(runtimes.get("zzzz")).rejects.toMatchObject({
    code: "runtime.unknown",
    hint: "Choose one of: bubblewrap, docker, gvisor.",
  });
});
