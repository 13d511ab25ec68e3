/**
 * Threat 26: text that becomes an option or a command. Hostile strings go through every argument of the command line
 * and the API; what is legal arrives letter by letter, the rest is refused with a code, and no canary ever appears.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isAgentBoxError } from "../../src/base/errors.ts";
import type { EventType } from "../../src/contract/events.ts";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { makeProject, stateOf, working } from "../support/review.ts";
import { testRuntime } from "../support/test-runtime.ts";
import { chownTree, emptyBox, type Ground, hostCases, inBox, onEachDaemon } from "./attack.ts";

const cases = (ground: Ground): void => {
  let directory: string;
  let canary: string;
  beforeEach(() => {
    directory = mkdtempSync(join(ground.daemon.scratch, "inject-"));
    canary = join(directory, "canary");
    if (isRoot && !ground.isRootDaemon) chownTree(directory, ordinaryUser);
  });
  afterEach(() => {
    expect(existsSync(canary)).toBe(false);
    rmSync(directory, { recursive: true });
  });

  const hostile = (): string[] => [
    `$(touch ${canary})`,
    `\`touch ${canary}\``,
    `; touch ${canary} ;`,
    `x\ntouch ${canary}\n`,
    `" && touch ${canary} && "`,
    `' ; touch ${canary} ; '`,
    `| touch ${canary}`,
    `--upload-pack=touch ${canary}`,
    `-oProxyCommand=touch ${canary}`,
    `--exec=touch ${canary}`,
    `-c core.fsmonitor=touch ${canary}`,
    "--",
    "-",
    "-rf",
    "--help",
    "--version",
    "--bind",
    "--dev-bind / /",
    "..",
    "../../../../etc/passwd",
    "../../../state.db",
    "%2e%2e%2f",
    "\u202etxt.exe",
    "\u001b]0;owned\u0007",
  ];

  it("passes every argument of a command on as it is", async () => {
    const { daemon } = ground;
    const args = [...hostile(), "", " ", "$HOME", "*", "\\", "é☃", "a".repeat(10_000)];
    const result = await inBox(daemon, "inject-box", [
      "node",
      "-e",
      "console.log(JSON.stringify(process.argv.slice(1)))",
      "--",
      ...args,
    ]);
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toEqual(args);
    const variables = hostile().map((value) => ["-e", `HOSTILE=${value}`]);
    for (const flags of variables.slice(0, 8)) {
      const { stdout } = await daemon.cli([
        "exec",
        "inject-box",
        ...flags,
        "--",
        "sh",
        "-c",
        'printf "%s" "$HOSTILE"',
      ]);
      expect(stdout).toBe(flags[1]!.slice("HOSTILE=".length));
    }
  });

  hostCases(() => {
    it("takes no box, session, runtime, agent or source name that is more than a name", async () => {
      const { daemon } = ground;
      const codes: string[] = [];
      // Every other one, because each is half a dozen commands; the API below sees them all.
      for (const text of hostile().filter((_, index) => index % 2 === 0)) {
        for (const args of [
          ["create", "shell", "--name", text],
          ["create", "shell", "--runtime", text],
          ["inspect", "--", text],
          ["stop", "--", text],
          ["exec", "inject-box", "--cwd", `/nowhere-${text}-x`, "--", "true"],
        ]) {
          const { code, stderr } = await daemon.cli(args);
          expect(code, JSON.stringify(args)).not.toBe(0);
          expect(stderr, JSON.stringify(args)).toMatch(/error\[[a-z_]+\.[a-z_]+\]/);
          expect(stderr, JSON.stringify(args)).not.toMatch(/internal\.unexpected|[\u001b\u0007\u202e]/);
          codes.push(code === null ? "killed" : String(code));
        }
        // A source that has printed nothing has no lines; one that is no name must not become a path.
        const logs = await daemon.cli(["logs", "inject-box", "--source", text]);
        expect({ text, stdout: logs.stdout }).toEqual({ text, stdout: "" });
      }
      expect(codes).not.toContain("killed");
      // The control: the same commands with plain words.
      expect(
        (await daemon.cli(["create", "shell", "--name", "plain-name", "--workspace", "empty"])).code,
      ).toBe(0);
      expect((await daemon.cli(["rm", "--force", "--", "plain-name"])).code).toBe(0);
    });

    it("clones a repository with any directory, branch and remote name without obeying it", async () => {
      const { daemon } = ground;
      const names = [
        `$(touch canary)`,
        `-rf`,
        `--upload-pack=touch canary`,
        `a;touch canary;`,
        `new\nline`,
        `quote'"`,
        `:(exclude)x`,
      ];
      for (const [index, name] of names.entries()) {
        const project = join(directory, name);
        mkdirSync(project);
        const git = (...args: string[]) =>
          runProgram(["git", "-c", "user.name=t", "-c", "user.email=t@t.test", ...args], { cwd: project });
        await git("init", "-q");
        writeFileSync(join(project, "-file"), "content");
        writeFileSync(join(project, "$(touch canary)"), "content");
        await git("add", "--", ".");
        expect((await git("commit", "-qm", `$(touch ${canary})`)).code).toBe(0);
        await git("branch", "-q", "-m", "$(touch${IFS}canary)");
        const { stdout: head } = await git("rev-parse", "HEAD");
        await git("update-ref", "refs/heads/--upload-pack=x", head.trim());
        await git("remote", "add", "origin", "ext::touch canary");
        if (isRoot && !ground.isRootDaemon) chownTree(project, ordinaryUser);
        const box = `inject-repo-${index}`;
        const created = await daemon.cli(["create", "shell", "--name", box, "--start"], { cwd: project });
        expect(created, name).toMatchObject({ code: 0 });
        const { stdout } = await inBox(daemon, box, ["cat", "./-file", "./$(touch canary)"]);
        expect(stdout, name).toBe("contentcontent");
        expect((await daemon.cli(["rm", "--force", box])).code).toBe(0);
        expect(readdirSync(project).filter((entry) => entry === "canary")).toEqual([]);
      }
      expect(readdirSync(directory)).not.toContain("canary");
    });
  });

  it("copies files with any name, and mounts directories with any name", async () => {
    const { daemon } = ground;
    for (const name of ["-rf", "--", "$(touch canary)", "a b", "x\ny", "'\"", "::", "a,readonly=false"]) {
      const source = join(directory, "in", name);
      mkdirSync(join(directory, "in", name), { recursive: true });
      writeFileSync(join(source, "f"), name);
      if (isRoot) await runProgram(["chmod", "-R", "a+rX", directory]);
      if (isRoot && ground.isRootDaemon) await runProgram(["chmod", "a+x", daemon.scratch]);
      if (isRoot && !ground.isRootDaemon) chownTree(directory, ordinaryUser);
      expect((await daemon.cli(["cp", source, "inject-box:/workspace/"])).code, name).toBe(0);
      expect((await inBox(daemon, "inject-box", ["cat", `/workspace/${name}/f`])).stdout).toBe(name);
      const target = join(directory, "out");
      expect((await daemon.cli(["cp", `inject-box:/workspace/${name}/f`, target])).code, name).toBe(0);
      const mounting = daemon.client.createBox({
        name: "inject-mount",
        flags: { workspace: { mode: "empty" }, mounts: [{ source, target: "/data" }] },
      });
      // Podman would read something else than was said, so such a mount is refused there.
      if (testRuntime?.engine === "podman-rootless" && /[,"\n]/.test(name)) {
        await expect(mounting, name).rejects.toMatchObject({ code: "mount.invalid" });
        await daemon.client.removeBox("inject-mount", { force: true }).catch(() => undefined);
        continue;
      }
      await mounting;
      expect((await inBox(daemon, "inject-mount", ["cat", "/data/f"])).stdout, name).toBe(name);
      await daemon.client.removeBox("inject-mount", { force: true });
    }
    expect(readdirSync(directory).toSorted()).toEqual(["in", "out"]);
  });

  hostCases(() => {
    it("answers any text in the API with a result or a code", async () => {
      const { daemon } = ground;
      const { client } = daemon;
      const text = fc.oneof(
        fc.constantFrom(
          ...hostile(),
          "\0",
          "a\0b",
          "__proto__",
          "constructor",
          "main",
          "service:x",
          "x".repeat(5000),
        ),
        fc.string({ unit: "binary", maxLength: 40 }),
        fc
          .tuple(fc.constantFrom(...hostile()), fc.string({ maxLength: 10 }))
          .map(([left, right]) => left + right),
      );
      const flags = { workspace: { mode: "empty" } };
      const calls: readonly ((value: string) => Promise<unknown>)[] = [
        (value) => client.getBox(value),
        (value) => client.startBox(value),
        (value) => client.removeBox(value, { force: true }),
        (value) => client.createBox({ name: value, flags, start: false }),
        (value) =>
          client.createBox({
            name: "inject-api",
            flags: { ...flags, runtime: { name: value } },
            start: false,
          }),
        (value) =>
          client.createBox({ name: "inject-api", flags: { ...flags, agent: { name: value } }, start: false }),
        (value) => client.createBox({ name: "inject-api", projectDir: value, start: false }),
        (value) => client.createBox({ name: "inject-api", flags: { [value]: value }, start: false }),
        (value) =>
          client.createBox({ name: "inject-api", manifest: { file: value, text: value }, start: false }),
        (value) =>
          client.createBox({
            name: "inject-api",
            flags: { ...flags, mounts: [{ source: value, target: value }] },
            start: false,
          }),
        (value) =>
          client.createBox({
            name: "inject-api",
            flags: { ...flags, env: { [value]: value } },
            start: false,
          }),
        (value) => client.getLogs("inject-box", { source: value }),
        (value) => client.listEvents({ type: value as EventType }),
        (value) => client.listEvents({ box: value }),
        (value) =>
          client.startSession("inject-box", {
            session: value,
            spec: { argv: ["true"], terminal: false, cols: 80, rows: 24 },
          }),
        (value) => client.revokeTrust({ projectDir: value, digest: value }),
        (value) => client.askTrust({ projectDir: value, manifest: { file: value, text: "version = 1" } }),
      ];
      const before = daemon.pid;
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(text, fc.constantFrom(...calls.keys()), async (value, index) => {
          try {
            await calls[index]!(value);
          } catch (error) {
            refused++;
            // An error with a code of the table; a bug of the daemon's own would say internal.unexpected.
            expect(isAgentBoxError(error), `${index} ${String(error)}`).toBe(true);
            expect(
              (error as { code: string }).code,
              `call ${index} with ${JSON.stringify(value)}`,
            ).not.toMatch(/^internal|^daemon/);
          }
          await client.removeBox("inject-api", { force: true }).catch(() => undefined);
        }),
        { numRuns: 400, seed: 26 },
      );
      expect(refused).toBeGreaterThan(100);
      expect((await client.getInfo()).pid).toBe(before);
      expect((await inBox(daemon, "inject-box", ["true"])).code).toBe(0);
      // A name that happens to be good makes a box of that name, and nothing else.
      for (const { name } of await client.listBoxes()) expect(name).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
    });

    it("answers any text about a review with a result or a code, and writes nothing because of it", async () => {
      const { daemon } = ground;
      const { client } = daemon;
      const project = await makeProject(daemon);
      await working(daemon, project, "inject-review", "echo work > work.txt");
      const { digest } = await client.checkpointAndReview("inject-review");
      const before = await stateOf(project);
      const around = readdirSync(daemon.scratch);
      const box = "inject-review";
      const calls: readonly ((value: string) => Promise<unknown>)[] = [
        (value) => client.getReview(box, { from: value }),
        (value) => client.getReview(box, { to: value }),
        (value) => client.checkpointAndReview(box, { from: value }),
        (value) => client.checkpointAndReview(box, { to: value }),
        (value) => client.takeCheckpoint(box, { name: value }),
        (value) => client.restoreCheckpoint(box, { checkpoint: value }),
        (value) => client.forkBox(box, { name: "inject-fork", checkpoint: value }),
        (value) => client.addComment(box, { path: value, line: 1, text: "x" }),
        (value) => client.exportWork(box, { format: "patch", file: value }),
        (value) => client.exportWork(box, { format: "bundle", file: `./${value}` }),
        (value) => client.mergeWork(box, { mode: "squash", accept: [], digest: value }),
        (value) => client.mergeWork(box, { mode: "squash", accept: [value as "ci"], digest: "x" }),
        (value) => client.undoMerge({ projectDir: value }),
        (value) => client.undoMerge({ box: value }),
      ];
      const codes = new Set<string>();
      for (const value of [...hostile(), "\0", "HEAD", "__proto__", "x".repeat(5_000)]) {
        for (const [index, call] of calls.entries()) {
          const what = `call ${index} with ${JSON.stringify(value.slice(0, 60))}`;
          const error: unknown = await call(value).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          expect(isAgentBoxError(error), `${what}: ${String(error)}`).toBe(true);
          const { code } = error as { code: string };
          expect(code, what).not.toMatch(/^internal|^daemon/);
          codes.add(code);
        }
      }
      expect([...codes]).toEqual(expect.arrayContaining(["checkpoint.not_found", "input.invalid"]));
      expect(readdirSync(daemon.scratch)).toEqual(around);
      expect(await stateOf(project)).toEqual(before);

      // Comments and messages may be any text, and arrive as they are.
      for (const text of hostile()) await client.addComment(box, { path: "work.txt", line: 1, text });
      expect((await client.listComments(box)).map(({ text }) => text)).toEqual(hostile());
      const message = `--amend $(touch ${canary})\n\nBody \`touch ${canary}\``;
      await client.mergeWork(box, { mode: "squash", accept: [], digest, message });
      expect(await project.git("log", "-1", "--format=%B")).toContain(message);
    });
  });
};

onEachDaemon("injected arguments", cases, { prepare: (daemon) => emptyBox(daemon, "inject-box") });
