import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAgentBoxError } from "../../base/errors.ts";
import type { Forges, RemoteRepository } from "../../ports/forge.ts";
import { type GitHttp, startGitHttp } from "../../../test/support/git-http.ts";
import { openForges } from "./index.ts";

const token = "ghp_canary/0123+456=789";
const credential = { username: "x-access-token", password: token };

let server: GitHttp;
let project: string;
let first: string;
let second: string;
let forges: Forges;
let remote: RemoteRepository;

const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=P", "-c", "user.email=p@example.org", ...args], {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
  })
    .toString()
    .trim();

beforeEach(async () => {
  project = mkdtempSync(join(tmpdir(), "ab-forge-"));
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "first");
  first = git("rev-parse", "HEAD");
  server = await startGitHttp({ password: token });
  await server.createRepository("shop/app.git", project);
  git("commit", "-q", "--allow-empty", "-m", "second");
  second = git("rev-parse", "HEAD");
  forges = openForges({});
  remote = { url: `${server.origin}/shop/app.git`, credential };
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(project, { recursive: true, force: true });
});

const tipOf = (branch: string) => server.git("shop/app.git", "rev-parse", `refs/heads/${branch}`);
const pushed = (commit: string, expected?: string, branch = "agentbox/one") =>
  forges.push({ ...remote, repository: join(project, ".git"), commit, branch, expected });
const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => "done",
    (error: unknown) => (isAgentBoxError(error) ? error.code : String(error)),
  );

describe("a push", () => {
  it("makes a branch, and moves it from where it is known to be", async () => {
    await pushed(first);
    expect(await tipOf("agentbox/one")).toBe(first);
    await pushed(second, first);
    expect(await tipOf("agentbox/one")).toBe(second);
    // Back as well: a rewritten commit is no successor of the one before.
    await pushed(first, second);
    expect(await tipOf("agentbox/one")).toBe(first);
    expect(await tipOf("main")).toBe(first);
  });

  it("leaves a branch alone that is somewhere else than it was left", async () => {
    await pushed(first);
    await server.git("shop/app.git", "fetch", "-q", project, `${second}:refs/heads/agentbox/one`);
    for (const expected of [undefined, first])
      expect(await codeOf(pushed(first, expected))).toBe("push.refused");
    expect(await tipOf("agentbox/one")).toBe(second);
  });

  it("says what the remote's rules say", async () => {
    await server.git("shop/app.git", "config", "receive.denyDeletes", "true");
    await server.git("shop/app.git", "config", "receive.denyNonFastForwards", "true");
    await pushed(second);
    await expect(pushed(first, second)).rejects.toMatchObject({ code: "push.refused" });
    expect(await tipOf("agentbox/one")).toBe(second);
  });

  it("uses a wrong password for nothing, and never says it", async () => {
    const wrong = { ...remote, credential: { username: "x", password: "canary-of-a-wrong-password" } };
    const attempt = forges.look(wrong, ["main"]);
    await expect(attempt).rejects.toMatchObject({ code: "push.failed" });
    const error = (await attempt.catch((e: unknown) => e)) as Error & { hint?: string };
    expect(error.hint).toContain("not accepted");
    expect(JSON.stringify([error.message, error.stack, error.hint])).not.toMatch(/canary/);
  });

  it.each([
    "-x",
    "--upload-pack=touch",
    "a b",
    "a\nb",
    "$(touch x)",
    "a..b",
    "a:b",
    "+a",
    "a.lock",
    "HEAD",
    "refs/heads/main",
    "",
    "a\0b",
    "*",
    "a~1",
  ])("takes no branch %j", async (branch) => {
    expect(await codeOf(pushed(first, undefined, branch))).toBe("push.refused");
    expect(await codeOf(forges.look(remote, [branch]))).toBe("push.refused");
    expect(server.requests).toEqual([]);
  });

  it.each(["main", "HEAD", "--all", `${"0".repeat(39)}g`])("takes no commit %j", async (commit) => {
    expect(await codeOf(pushed(commit))).toBe("push.failed");
  });

  it("follows no redirect", async () => {
    await using elsewhere = await startGitHttp({
      password: token,
      other: (_, answer) => void answer.writeHead(404).end(),
    });
    const bounce = createServer((request, answer) =>
      answer.writeHead(302, { location: `${elsewhere.origin}${request.url}` }).end(),
    );
    await new Promise<void>((resolve) => bounce.listen(0, "127.0.0.1", resolve));
    const { port } = bounce.address() as { port: number };
    const url = `http://127.0.0.1:${port}/shop/app.git`;
    expect(await codeOf(forges.look({ url, credential }, ["main"]))).toBe("push.failed");
    const order = {
      forge: "github",
      branch: "a",
      base: "main",
      title: "t",
      body: "",
      isDraft: false,
    } as const;
    expect(await codeOf(forges.openPullRequest({ url, credential, ...order }))).toBe("push.failed");
    expect(elsewhere.requests).toEqual([]);
    bounce.closeAllConnections();
    bounce.close();
  });

  it("has the credential in no argument, while the server holds the request", async () => {
    const { arrived, release } = server.hold();
    const look = forges.look(remote, ["main"]);
    await arrived;
    const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
    const lines = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "utf8");
        } catch {
          return "";
        }
      });
    // The control: git is there, and its arguments can be read.
    expect(lines.some((line) => line.includes("ls-remote") && line.includes(remote.url))).toBe(true);
    expect(lines.filter((line) => line.includes(token) || line.includes(basic))).toEqual([]);
    release();
    expect((await look).tips.get("main")).toBe(first);
    expect(server.requests[0]?.authorization).toBe(`Basic ${basic}`);
  });

  it("works from a shallow clone", async () => {
    for (const n of [1, 2, 3]) git("commit", "-q", "--allow-empty", "-m", `more ${n}`);
    await server.git("shop/app.git", "fetch", "-q", project, "+refs/heads/main:refs/heads/main");
    const shallow = mkdtempSync(join(tmpdir(), "ab-shallow-"));
    execFileSync("git", ["clone", "-q", "--depth", "1", `file://${project}`, shallow]);
    const options = { cwd: shallow };
    execFileSync(
      "git",
      ["-c", "user.name=P", "-c", "user.email=p@e", "commit", "-q", "--allow-empty", "-m", "x"],
      options,
    );
    // Another push came meanwhile, so the remote's newest commit is not here.
    git("commit", "-q", "--allow-empty", "-m", "newer");
    await server.git("shop/app.git", "fetch", "-q", project, "+refs/heads/main:refs/heads/main");
    const commit = execFileSync("git", ["rev-parse", "HEAD"], options).toString().trim();
    await forges.push({ ...remote, repository: join(shallow, ".git"), commit, branch: "agentbox/s" });
    expect(await tipOf("agentbox/s")).toBe(commit);
    rmSync(shallow, { recursive: true, force: true });
  });
});

describe("a look", () => {
  it("tells the default branch and where branches are", async () => {
    await pushed(second);
    await server.git("shop/app.git", "update-ref", "refs/odd/refs/heads/none", first);
    const { defaultBranch, tips } = await forges.look(remote, ["main", "agentbox/one", "none"]);
    expect(defaultBranch).toBe("main");
    expect([...tips]).toEqual([
      ["agentbox/one", second],
      ["main", first],
    ]);
  });

  it("of an empty repository finds nothing", async () => {
    await server.createRepository("empty.git");
    const state = await forges.look({ ...remote, url: `${server.origin}/empty.git` }, ["main"]);
    expect({ ...state, tips: state.tips.size }).toEqual({ defaultBranch: undefined, tips: 0 });
  });
});

describe("a remote of a project", () => {
  it("is read as it stands, with the one for pushing first", async () => {
    git("remote", "add", "origin", "https://example.org/a.git");
    git("config", "url.https://evil.example/.insteadOf", "https://example.org/");
    expect(await forges.findRemote(project, "origin")).toBe("https://example.org/a.git");
    git("config", "remote.origin.pushurl", "https://example.org/b.git");
    expect(await forges.findRemote(project, "origin")).toBe("https://example.org/b.git");
    expect(await forges.findRemote(project, "other")).toBeUndefined();
  });
});
