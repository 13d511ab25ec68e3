/** The test suites of real projects end in a box exactly as outside of it. */
import { chmodSync, mkdtempSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { hasProgram } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { fetchProject, makeProjectBox, realProjects, testsIn } from "../support/real-projects.ts";
import { whyNoBoxes } from "../support/test-runtime.ts";

const timeoutMs = 600_000;

describe("the test suite of a real project", () => {
  let daemon: TestDaemon | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    missing = await whyNoBoxes();
    // Toolchains of the home that the tests run in, such as Rust's, are shown to the boxes after one yes.
    if (missing === undefined) daemon = await startDaemon({ env: { HOME: homedir() } });
  });
  afterAll(() => daemon?.[Symbol.asyncDispose]());

  for (const project of realProjects)
    it(
      `${project.language}: the same tests pass in a box as outside`,
      async ({ skip }) => {
        if (!hasProgram(project.needs)) skip(`${project.needs} is not installed`);
        if (daemon === undefined) {
          skip(missing);
          return;
        }
        chmodSync(daemon.scratch, 0o755);
        const dir = mkdtempSync(join(daemon.scratch, "real-"));
        const why = await fetchProject(project, dir);
        if (why !== undefined) skip(why);
        // The box has its copy before anything is built here.
        const box = await makeProjectBox(daemon, project, dir);
        const outside = await runProgram(["sh", "-c", project.test], { cwd: dir, timeoutMs });
        expect(testsIn(project, outside.stdout), outside.stdout + outside.stderr).toBe(project.tests);
        const argv = ["exec", box, "--no-stdin", "--", "sh", "-c", project.test];
        const inside = await daemon.cli(argv, { timeoutMs });
        expect(testsIn(project, inside.stdout), inside.stdout + inside.stderr).toBe(project.tests);
        expect(inside.code).toBe(outside.code);
        if (project.install !== undefined) {
          const installed = await daemon.cli([...argv.slice(0, -1), project.install], { timeoutMs });
          expect(installed.stdout, installed.stderr).toBe("installed\n");
        }
        await daemon.client.removeBox(box, { force: true });
      },
      timeoutMs,
    );
});
