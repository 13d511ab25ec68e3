/** Work that is pushed from the host with the vault's credential: to a branch of its own, and nothing of the project's executes. */
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PushRecord } from "../../src/contract/review/push.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { type GitHttp, startGitHttp } from "../support/git-http.ts";
import { type GithubApi, fakeGithubApi } from "../support/github-api.ts";
import { isRoot } from "../support/host-facts.ts";
import { type ProgramResult, runProgram } from "../support/program.ts";
import { type Project, codeOf, makeProject, stateOf, worked, working, runIn } from "../support/review.ts";

const token = "ghp_Canary0123456789abcdefABCDEF";
const asAgent = "git -c user.name=Robo -c user.email=robo@example.org";
/** The agent of these tests has a name of its own, which is kept because it is accepted. */
const foreign = ["--accept-danger", "commit"];
const repository = "shop/app.git";

const users = isRoot
  ? [
      { title: "as root", options: {} },
      { title: "as an ordinary user", options: { user: { uid: 64_223, gid: 64_223 } } },
    ]
  : [{ title: "as an ordinary user", options: {} }];

describe.each(users)("a push, $title", ({ options }) => {
  let daemon: TestDaemon;
  let server: GitHttp;
  let api: GithubApi;
  let project: Project;

  const tipOf = (branch: string) => server.git(repository, "rev-parse", `refs/heads/${branch}`);
  const pr = async (
    box: string,
    ...args: string[]
  ): Promise<ProgramResult & { readonly push: PushRecord | undefined }> => {
    const result = await daemon.cli(["pr", box, "--unseen", ...foreign, ...args, "--json"]);
    const push = result.code === 0 ? (JSON.parse(result.stdout) as { push: PushRecord }).push : undefined;
    return { ...result, push };
  };
  const configure = (text: string) => writeFileSync(join(daemon.home, "config.toml"), text, { mode: 0o644 });

  beforeAll(async () => {
    daemon = await startDaemon(options);
    const kept = await daemon.cli(["vault", "set", "github"], { stdin: token });
    expect(kept.code, kept.stderr).toBe(0);
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  beforeEach(async () => {
    api = fakeGithubApi({
      token,
      repository: "shop/app",
      hasBranch: (name) =>
        tipOf(name).then(
          () => true,
          () => false,
        ),
    });
    server = await startGitHttp({ password: token, other: (q, a) => api.answer(q, a) });
    project = await makeProject(daemon);
    await server.createRepository(repository, project.dir);
    await project.git("remote", "add", "origin", `${server.origin}/${repository}`);
    configure(`[push]\ngithub = ["${server.origin}"]\n`);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it("makes a branch and a pull request, and the next one moves both", async () => {
    const begun = (await project.git("rev-parse", "HEAD")).trim();
    await working(daemon, project, "first", `echo a > a.txt; git add -A; ${asAgent} commit -qm 'Add a'`);
    // Unseen commits of the person's own stay theirs.
    project.write("own.txt", "mine\n");
    await project.commit("Mine alone");
    const before = await stateOf(project);

    const { push, stderr } = await pr("first", "--body", "It was missing.");
    expect(push, stderr).toMatchObject({
      branch: "agentbox/first",
      base: "main",
      number: 1,
      url: `${server.origin}/shop/app/pull/1`,
      files: 1,
    });
    const tip = await tipOf("agentbox/first");
    expect(push!.commit).toBe(tip);
    const format = "--format=%s|%an|%cn|%P|%(trailers:key=AgentBox-Box,valueonly)";
    expect((await server.git(repository, "log", "-1", format, tip)).trim()).toBe(
      `Add a|Robo|Pat Person|${begun}|first`,
    );
    expect(api.pulls).toEqual([
      {
        number: 1,
        head: "agentbox/first",
        base: "main",
        title: "Add a",
        body: "It was missing.",
        draft: false,
      },
    ]);
    expect(await tipOf("main")).toBe(begun);
    expect(await stateOf(project)).toEqual(before);

    // The same again sends nothing; more work moves the branch.
    const same = await pr("first");
    expect(same.push, same.stderr).toMatchObject({ commit: tip, number: 1 });
    expect((await runIn(daemon, "first", "echo b > b.txt")).code).toBe(0);
    const more = await pr("first");
    expect(more.push, more.stderr).toMatchObject({ number: 1, files: 2, url: push!.url });
    expect(more.push!.commit).not.toBe(tip);
    expect(await tipOf("agentbox/first")).toBe(more.push!.commit);
    expect(await server.git(repository, "show", `${more.push!.commit}:b.txt`)).toBe("b");
    expect(api.pulls).toHaveLength(1);
    expect(await stateOf(project)).toEqual(before);

    // For people: the address alone on stdout.
    const shown = await daemon.cli(["pr", "first", "--unseen", ...foreign]);
    expect(shown.stdout.trim()).toBe(push!.url);
  });

  it("pushes alone, keeps the agent's commits, and opens the pull request later", async () => {
    await worked(
      daemon,
      project,
      "alone",
      `for n in 1 2; do echo $n > $n.txt; git add -A; ${asAgent} commit -qm "Commit $n"; done`,
    );
    const pushed = await daemon.json<{ push: PushRecord }>([
      "push",
      "alone",
      "--unseen",
      ...foreign,
      "--mode",
      "commits",
    ]);
    expect(pushed.push.url).toBeUndefined();
    expect(api.requests).toEqual([]);
    const log = await server.git(repository, "log", "--reverse", "--format=%s", "agentbox/alone");
    expect(log.split("\n")).toEqual(["First", "Commit 1", "Commit 2"]);
    const opened = await pr("alone", "--mode", "commits", "--draft");
    expect(opened.push, opened.stderr).toMatchObject({ number: 1, commit: pushed.push.commit });
    expect(api.pulls[0]).toMatchObject({ draft: true });
  });

  it("goes to allowed branches only, and never to one that work is merged into", async () => {
    await worked(daemon, project, "branches", "echo a > a.txt");
    for (const branch of ["main", "feature/a", "-x", "--mirror", "agentbox/../main", "agentbox/$(touch x)"]) {
      const refused = await pr("branches", `--branch=${branch}`);
      expect({ branch, code: refused.code, said: codeOf(refused) }).toEqual({
        branch,
        code: 5,
        said: "push.refused",
      });
    }
    configure(`[push]\nbranches = ["**"]\ngithub = ["${server.origin}"]\n`);
    for (const flags of [
      ["--branch", "main"],
      ["--branch", "MAIN"],
      ["--branch", "feature/a", "--base", "feature/a"],
    ])
      expect(codeOf(await pr("branches", ...flags)), flags.join(" ")).toBe("push.refused");
    expect(await server.git(repository, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
    const allowed = await pr("branches", "--branch", "feature/a");
    expect(allowed.push, allowed.stderr).toMatchObject({ branch: "feature/a" });
  });

  it("goes through the same gate as a merge", async () => {
    await worked(
      daemon,
      project,
      "risky",
      "mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml",
    );
    const refused = await pr("risky");
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 5, said: "merge.danger" });
    const old = await daemon.client
      .pushWork("risky", { accept: ["ci"], digest: "0".repeat(40) })
      .catch((error: unknown) => error);
    expect(old).toMatchObject({ code: "merge.danger" });
    expect(server.requests).toEqual([]);
    const accepted = await pr("risky", "--accept-danger", "ci");
    expect(accepted.code, accepted.stderr).toBe(0);
  });

  it("leaves a branch alone that somebody else has made or moved", async () => {
    await working(daemon, project, "moved", "echo a > a.txt");
    await server.git(repository, "update-ref", "refs/heads/agentbox/moved", "refs/heads/main");
    expect(codeOf(await pr("moved"))).toBe("push.refused");
    await server.git(repository, "update-ref", "-d", "refs/heads/agentbox/moved");
    expect((await pr("moved")).code).toBe(0);
    await server.git(repository, "update-ref", "refs/heads/agentbox/moved", "refs/heads/main");
    expect((await runIn(daemon, "moved", "echo b > b.txt")).code).toBe(0);
    const refused = await pr("moved");
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 5, said: "push.refused" });
    expect(await tipOf("agentbox/moved")).toBe(await tipOf("main"));
  });

  it("with a credential that is missing, wrong or for another place changes nothing, and the work is still there", async () => {
    await worked(daemon, project, "keys", "echo a > a.txt");
    const set = await daemon.cli(["vault", "set", "wrong"], { stdin: "canary-wrong-password" });
    expect(set.code, set.stderr).toBe(0);
    const wrong = await pr("keys", "--secret", "wrong");
    expect({ code: wrong.code, said: codeOf(wrong) }).toEqual({ code: 6, said: "push.failed" });
    expect(wrong.stderr + wrong.stdout).not.toContain("canary");
    // A host that is not known to be GitHub gets no token of GitHub, typed or not.
    configure(`[push]\ngitlab = ["${server.origin}"]\n`);
    expect(codeOf(await pr("keys", "--secret", "github"))).toBe("push.refused");
    expect(codeOf(await pr("keys"))).toBe("push.failed");
    expect(server.requests.some(({ authorization }) => authorization?.includes(token))).toBe(false);
    configure("");
    expect(codeOf(await pr("keys"))).toBe("push.refused");
    await project.git("remote", "add", "ssh", "git@unknown.example:shop/app.git");
    expect(codeOf(await pr("keys", "--remote", "ssh"))).toBe("push.refused");
    expect(codeOf(await pr("keys", "--remote=--all"))).toBe("push.refused");

    configure(`[push]\ngithub = ["${server.origin}"]\n`);
    const right = await pr("keys");
    expect(right.code, right.stderr).toBe(0);
  });

  it("executes nothing that the repository names, and goes nowhere else", async () => {
    const canary = join(project.dir, ".git/canary.sh");
    const sang = join(daemon.scratch, "sang");
    await worked(daemon, project, "hostile", "echo a > a.txt");
    await using evil = await startGitHttp({ password: token });
    writeFileSync(canary, `#!/bin/sh\necho "$*" >> ${sang}\n`);
    const hooks = join(project.dir, ".git/evil-hooks");
    mkdirSync(hooks);
    for (const hook of ["pre-push", "reference-transaction", "post-commit"])
      writeFileSync(join(hooks, hook), `#!/bin/sh\necho ${hook} >> ${sang}\n`);
    for (const file of [canary, ...readdirSync(hooks).map((name) => join(hooks, name))])
      chmodSync(file, 0o755);
    const planted: Record<string, string> = {
      "core.hooksPath": hooks,
      "core.sshCommand": canary,
      "core.askPass": canary,
      "core.gitProxy": canary,
      "core.fsmonitor": canary,
      "core.alternateRefsCommand": canary,
      "credential.helper": `!${canary}`,
      "gpg.program": canary,
      "push.gpgSign": "true",
      "http.proxy": evil.origin,
      [`http.${server.origin}/.proxy`]: evil.origin,
      [`url.${evil.origin}/.insteadOf`]: `${server.origin}/`,
      [`url.${evil.origin}/.pushInsteadOf`]: `${server.origin}/`,
      "remote.origin.proxy": evil.origin,
      "remote.origin.receivepack": canary,
    };
    for (const [key, value] of Object.entries(planted)) await project.git("config", key, value);
    // The control: plain git in the same place runs the canary and is led astray.
    const env = { ...process.env, GIT_TERMINAL_PROMPT: "0" };
    const run = (...args: string[]) =>
      runProgram(["git", "-C", project.dir, "-c", "safe.directory=*", ...args], { env });
    await run("-c", "push.gpgSign=false", "push", "origin", "main:agentbox/control");
    await run("commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "x");
    expect(readFileSync(sang, "utf8")).toContain("post-commit");
    writeFileSync(sang, "");
    const astray = evil.requests.length;
    expect(astray).toBeGreaterThan(0);
    await project.git("config", "remote.origin.vcs", "ext");

    const pushed = await pr("hostile");
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(await tipOf("agentbox/hostile")).toBe(pushed.push!.commit);
    expect(readFileSync(sang, "utf8")).toBe("");
    expect(evil.requests.length).toBe(astray);
  });

  it("leaves the credential in no argument, log, event, message or file, and records its use", async () => {
    await worked(daemon, project, "quiet", "echo a > a.txt");
    const { arrived, release } = server.hold();
    const pushing = pr("quiet");
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
    expect(lines.some((line) => line.includes("ls-remote"))).toBe(true);
    expect(lines.filter((line) => line.includes(token) || line.includes(basic))).toEqual([]);
    release();
    const { code, stdout, stderr } = await pushing;
    expect(code, stderr).toBe(0);
    expect(server.requests.some(({ authorization }) => authorization === `Basic ${basic}`)).toBe(true);

    const { events } = await daemon.client.listEvents({ limit: 1000 });
    const own = events.filter(({ box }) => box === "quiet").map(({ type, data }) => ({ type, data }));
    const { host } = new URL(server.origin);
    expect(own).toContainEqual({ type: "secret.used", data: { secret: "github", host, how: "push" } });
    expect(own).toContainEqual(
      expect.objectContaining({
        type: "work.pushed",
        data: expect.objectContaining({ host, number: 1 }) as object,
      }),
    );
    const grep = await runProgram(["grep", "-rlaF", "-e", token, "-e", basic, daemon.home, project.dir]);
    expect(grep.stdout).toBe("");
    for (const text of [stdout, stderr, daemon.log(), JSON.stringify(events)]) {
      expect(text).not.toContain(token);
      expect(text).not.toContain(basic);
    }
  });
});
