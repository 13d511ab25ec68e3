/** Checks run on the work in a box that the agent has never been in, and decide about the merge. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckResult } from "../../src/contract/review/check.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { acceptingAll, codeOf, makeProject, merge, reviewOf, runIn, working } from "../support/review.ts";

describe("checks", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const manifest = `version = 1

[[check]]
name = "works"
command = "test -e feature.txt"

[[check]]
name = "fresh"
command = ["sh", "-c", "cat ~/.bashrc ~/.planted /tmp/planted 2>/dev/null; test ! -e ~/.planted && test ! -e /tmp/planted && test -z \\"$PLANTED\\""]
timeout = "1m"
`;
  const checked = async (box: string, script: string) => {
    const project = await makeProject(daemon, { "README.md": "# Shop\n", "agentbox.toml": manifest });
    const made = await daemon.cli(["create", "--name", box], { cwd: project.dir });
    expect(made.code, made.stderr).toBe(0);
    await daemon.client.startBox(box);
    const { code, stderr } = await runIn(daemon, box, script);
    expect(code, stderr).toBe(0);
    return project;
  };
  const check = async (box: string) => {
    const result = await daemon.cli(["check", box, "--json"]);
    const { checks } = JSON.parse(result.stdout) as { checks: CheckResult[] };
    return {
      code: result.code,
      status: Object.fromEntries(checks.map(({ name, status }) => [name, status])),
      checks,
    };
  };

  it("see the work and nothing else that the agent left behind", async () => {
    await checked(
      "clean",
      "echo x > feature.txt; touch ~/.planted /tmp/planted; echo 'export PLANTED=yes' | tee ~/.bashrc ~/.profile; touch /workspace/../tmp/planted",
    );
    // The control: in the agent's own box the same command would have failed.
    expect((await runIn(daemon, "clean", "test -e ~/.planted && test -e /tmp/planted")).code).toBe(0);
    const { code, status, checks } = await check("clean");
    expect({ code, status }).toEqual({ code: 0, status: { works: "passed", fresh: "passed" } });
    expect(checks[1]?.output).not.toContain("PLANTED");
    expect((await daemon.client.listBoxes()).map(({ name }) => name)).toEqual(["clean"]);
  });

  it("gate the merge until they have passed on exactly this state", async () => {
    const project = await checked("gated", "echo x > other.txt");
    const required = await merge(daemon, "gated");
    expect({ code: required.code, said: codeOf(required) }).toEqual({ code: 5, said: "merge.checks" });
    expect(required.stderr).toMatch(/works/);
    expect(await check("gated")).toMatchObject({ code: 1, status: { works: "failed", fresh: "passed" } });
    expect(codeOf(await merge(daemon, "gated"))).toBe("merge.checks");
    expect(codeOf(await merge(daemon, "gated", "--check"))).toBe("merge.checks");

    await runIn(daemon, "gated", "echo x > feature.txt");
    expect((await reviewOf(daemon, "gated")).checks).toEqual([]);
    expect((await check("gated")).code).toBe(0);
    const { checks } = await reviewOf(daemon, "gated");
    expect(checks.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual([
      "fresh passed",
      "works passed",
    ]);
    // Passed, but on a state that is not the one to be merged.
    await runIn(daemon, "gated", "echo y > later.txt");
    expect(codeOf(await merge(daemon, "gated"))).toBe("merge.checks");
    const merged = await merge(daemon, "gated", "--check");
    expect(merged.code, merged.stderr).toBe(0);
    expect(project.read("later.txt")).toBe("y\n");
  });

  it("are skipped by name only", async () => {
    const project = await checked("skipped", "echo x > other.txt");
    const merged = await merge(daemon, "skipped", "--skip-checks");
    expect(merged.code, merged.stderr).toBe(0);
    expect(project.read("other.txt")).toBe("x\n");
  });

  it("are those of the manifest the box was made with, whatever the agent writes", async () => {
    await checked(
      "forged",
      "printf 'version = 1\\n' > agentbox.toml; git config x.y z; mkdir -p .agentbox; echo x > more.txt",
    );
    const review = await reviewOf(daemon, "forged");
    expect(review.requiredChecks).toEqual(["works", "fresh"]);
    expect(review.dangers.map(({ kind }) => kind)).toContain("manifest");
    expect((await check("forged")).status).toMatchObject({ works: "failed" });
    const accept = await acceptingAll(daemon, "forged");
    expect(codeOf(await merge(daemon, "forged", ...accept))).toBe("merge.checks");
  });

  it("run on the work, whatever the person has done to their repository since", async () => {
    const project = await checked("moved-on", "echo x > feature.txt");
    project.write("README.md", "# Rewritten\n");
    await project.git("commit", "-qa", "--amend", "-m", "Rewritten");
    await project.git("reflog", "expire", "--expire=now", "--all");
    const { code, status } = await check("moved-on");
    expect({ code, status }).toEqual({ code: 0, status: { works: "passed", fresh: "passed" } });
  });

  it("do not change what they check", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "vandal", "echo x > a.txt", {
      check: [{ name: "vandal", command: "echo bad > a.txt; rm README.md; echo more > b.txt" }],
    });
    const before = await reviewOf(daemon, "vandal");
    expect((await check("vandal")).status).toEqual({ vandal: "passed" });
    const after = await reviewOf(daemon, "vandal");
    expect(after.digest).toBe(before.digest);
    expect((await merge(daemon, "vandal")).code).toBe(0);
    expect(project.read("a.txt")).toBe("x\n");
  });

  it("end in time, and there must be some", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "slow", "echo x > a.txt", {
      check: [
        { name: "slow", command: "echo began; sleep 600", timeout: "1s" },
        { name: "missing", command: ["no-such-program"] },
      ],
    });
    const { code, status, checks } = await check("slow");
    expect({ code, slow: status["slow"] }).toEqual({ code: 1, slow: "timed_out" });
    expect(checks[0]?.output).toContain("began");
    expect(status["missing"]).toMatch(/^(failed|error)$/);
    await working(daemon, project, "unchecked", "echo x > a.txt");
    expect(codeOf(await daemon.cli(["check", "unchecked"]))).toBe("review.nothing");
  });
});
