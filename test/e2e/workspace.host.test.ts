/** The messages about a workspace when a box is made. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { makeProject } from "../support/review.ts";

describe("a new workspace", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  it("says which submodules are empty, and how to get them", async () => {
    const library = await makeProject(daemon);
    const project = await makeProject(daemon);
    const create = (name: string) => daemon.cli(["create", "shell", "--name", name], { cwd: project.dir });
    const control = await create("whole");
    expect([control.code, control.stderr.includes("ubmodule")]).toEqual([0, false]);
    for (const path of ["lib", "vendor/li b"])
      await project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", library.dir, path);
    await project.commit("Submodules");
    const made = await create("partial");
    expect(made.code, made.stderr).toBe(0);
    expect(made.stderr).toContain("Submodules are empty in the clone: lib, vendor/li b.");
    expect(made.stderr).toContain("agentbox exec partial -- git submodule update --init");
  });
});
