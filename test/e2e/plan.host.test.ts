/**
 * Everything that can be known before a box is made refuses it before it is made: nothing is fetched, and nothing is
 * left.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ErrorBody } from "../../src/base/errors.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";

let daemon: TestDaemon;
let project: string;
beforeAll(async () => {
  // An engine that is not there, and no key of any vendor.
  const nowhere = {
    AGENTBOX_ENGINE: "unix:///nowhere/docker.sock",
    DOCKER_HOST: "unix:///nowhere/docker.sock",
  };
  daemon = await startDaemon({ env: nowhere });
  project = join(daemon.scratch, "planned");
  mkdirSync(project, { mode: 0o755 });
});
afterAll(() => daemon[Symbol.asyncDispose]());

const inProject = (...args: string[]) => daemon.cli(args, { cwd: project });

/** The problems of a command with --json. */
async function problemsOf(...args: string[]): Promise<readonly ErrorBody[]> {
  const at = args.indexOf("--");
  const { code, stdout, stderr } = await inProject(...args.toSpliced(at < 0 ? args.length : at, 0, "--json"));
  expect(code, stdout + stderr).not.toBe(0);
  const error = JSON.parse(stderr.split("\n").findLast((line) => line.startsWith("{"))!) as ErrorBody;
  expect(error.problems?.[0]).toMatchObject({ code: error.code, message: error.message });
  return error.problems ?? [];
}

/** No record, no event, no directory and no download. */
async function expectNothing(): Promise<void> {
  expect(await daemon.client.listBoxes()).toEqual([]);
  const { events } = await daemon.client.listEvents({ limit: 1_000 });
  expect(events.map(({ type }) => type).filter((type) => /^(box|tool|image)\./.test(type))).toEqual([]);
  for (const dir of ["b", "boxes", "tools/agents", "images/layers"]) {
    const path = join(daemon.home, dir);
    expect(existsSync(path) ? readdirSync(path) : [], dir).toEqual([]);
  }
}

describe("a plan that is refused", () => {
  it("for a missing key says how to give one, and fetches no agent", async () => {
    const problems = await problemsOf("run", "claude", "--task", "Fix it.");
    expect(problems.map(({ code }) => code)).toEqual(["model.no_key", "tool.not_installed"]);
    expect(problems[0]!.hint).toMatch(/agentbox vault set anthropic.*agentbox login claude/);
    await expectNothing();
  });

  it("for an agent without a task or a terminal", async () => {
    const problems = await problemsOf("run", "claude", "--", "hello");
    expect(problems).toContainEqual(
      expect.objectContaining({ code: "input.invalid", hint: expect.stringContaining("--task") }),
    );
    await expectNothing();
  });

  it("for an engine that is not there, before anything is fetched", async () => {
    for (const args of [
      ["run", "claude", "--runtime", "docker", "--task", "Fix it."],
      ["build", "claude", "--runtime", "docker"],
    ]) {
      const problems = await problemsOf(...args);
      expect(problems[0]!.code, args.join(" ")).toMatch(/^(runtime\.|model\.no_key)/);
      expect(problems).toContainEqual(
        expect.objectContaining({ code: expect.stringMatching(/^runtime\.(absent|broken)$/) }),
      );
      expect(problems.map(({ code }) => code)).toContain("tool.not_installed");
      await expectNothing();
    }
  });

  it("for a racer that is unknown, or cannot work on a task: nobody starts", async () => {
    const unknown = await problemsOf("race", "Fix it.", "--agents", "claude,cluade");
    expect(JSON.stringify(unknown)).toContain("cluade");
    expect(unknown.map(({ code }) => code)).toContain("model.no_key");
    expect(await problemsOf("race", "Fix it.", "--agents", "shell,demo")).toMatchObject([
      { code: "input.invalid" },
      { code: "input.invalid" },
    ]);
    await expectNothing();
  });

  it("shows each problem with its hint to a person", async () => {
    const { code, stderr } = await inProject("run", "claude", "--runtime", "docker", "--task", "Fix it.");
    expect(code).not.toBe(0);
    for (const text of ["error[model.no_key]", "error[tool.not_installed]", "error[runtime."])
      expect(stderr).toContain(text);
    expect(stderr.match(/^hint:/gm)?.length).toBeGreaterThanOrEqual(3);
  });
});

describe("validate", () => {
  it("shows the plan of the file's box, and what this host lacks for it", async () => {
    writeFileSync(
      join(project, "agentbox.toml"),
      'version = 1\n[agent]\nname = "claude"\n[network]\nallow = ["example.org"]\n[workspace]\nmode = "empty"\n',
      { mode: 0o644 },
    );
    const shown = await inProject("validate");
    expect(shown.code, shown.stderr).toBe(0);
    for (const text of [
      "is valid",
      "claude",
      "bubblewrap",
      "example.org:80,443",
      "model.no_key",
      "vault set",
    ])
      expect(shown.stdout).toContain(text);
    const { stdout } = await inProject("validate", "--json");
    const answer = JSON.parse(stdout) as { isValid: boolean; problems: ErrorBody[]; trust: object };
    expect(answer.isValid).toBe(true);
    expect(answer.trust).toMatchObject({ isTrusted: false, requests: ["reach example.org"] });
    // The same as making the box says.
    const digest = (answer.trust as { digest: string }).digest;
    expect(await problemsOf("create")).toEqual(
      answer.problems.map((one) => expect.objectContaining({ code: one.code, message: one.message })),
    );
    const agreed = await problemsOf("create", "--trust", digest);
    expect(agreed).toEqual(answer.problems.filter(({ code }) => code !== "trust.required"));
    await expectNothing();
  });

  it("of a file that breaks a rule shows the rule and no plan", async () => {
    writeFileSync(join(project, "agentbox.toml"), 'version = 1\n[agent]\nnam = "claude"\n', { mode: 0o644 });
    const { code, stdout } = await inProject("validate");
    expect(code).toBe(1);
    expect(stdout).not.toContain("runtime");
  });
});
