/**
 * Threat 27: a repository that acts before it is trusted. Its git settings run nothing on the host, and its manifest
 * gets things outside the workspace only for the digest that a person has named.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { asUserArgv, isRoot, ordinaryUser } from "../support/host-facts.ts";
import { type ProgramResult, runProgram } from "../support/program.ts";
import { chownTree, eventsOf, type Ground, hostCases, inBox, onEachDaemon } from "./attack.ts";

const cases = (ground: Ground): void => {
  let root: string;
  let project: string;
  let secret: string;
  let canary: string;
  let count = 0;
  let box: string;

  const own = () => {
    if (isRoot && !ground.isRootDaemon) chownTree(root, ordinaryUser);
  };
  const git = (...args: string[]): Promise<ProgramResult> =>
    // As the owner, because git runs nothing in another user's repository.
    runProgram(
      (isRoot && !ground.isRootDaemon ? asUserArgv(ordinaryUser) : []).concat(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t.test", "-C", project],
        args,
      ),
    );
  const writeManifest = (text: string) => {
    writeFileSync(join(project, "agentbox.toml"), `version = 1\n${text}`);
    own();
  };
  const create = (...more: string[]) =>
    ground.daemon.cli(["create", "shell", "--name", box, "--start", ...more], {
      cwd: project,
      env: { HOST_TOKEN: "host token" },
    });
  const exists = async () => (await ground.daemon.client.listBoxes()).some(({ name }) => name === box);

  beforeEach(async () => {
    root = mkdtempSync(join(ground.daemon.scratch, "hostile-"));
    project = join(root, "project");
    secret = join(root, "secret");
    canary = join(root, "canary");
    box = `hostile-${++count}`;
    mkdirSync(project);
    mkdirSync(secret);
    writeFileSync(join(secret, "file"), "host secret");
    // As far as a root daemon's boxes are concerned, only trust stands before this directory.
    if (isRoot && ground.isRootDaemon) await runProgram(["chmod", "-R", "a+rX", ground.daemon.scratch]);
    own();
    await git("init", "-q", "-b", "main");
    writeFileSync(join(project, "code"), "code");
    await git("add", ".");
    await git("commit", "-qm", "one");
    own();
  });

  it("runs nothing on the host when it is cloned, with its changes or without", async () => {
    const run = `touch ${canary}`;
    for (const hook of [
      "post-checkout",
      "pre-push",
      "reference-transaction",
      "post-index-change",
      "fsmonitor-watchman",
    ])
      writeFileSync(join(project, ".git/hooks", hook), `#!/bin/sh\n${run}\n`, { mode: 0o755 });
    writeFileSync(join(project, ".gitattributes"), "* filter=evil diff=evil merge=evil\n");
    writeFileSync(
      join(project, ".gitmodules"),
      `[submodule "evil"]\n\tpath = evil\n\turl = ext::${run}\n\tupdate = !${run}\n`,
    );
    for (const [key, value] of [
      ["filter.evil.smudge", run],
      ["filter.evil.clean", run],
      ["filter.evil.process", run],
      ["filter.evil.required", "true"],
      ["diff.evil.textconv", run],
      ["diff.external", run],
      ["core.fsmonitor", run],
      ["core.sshCommand", run],
      ["core.hooksPath", join(project, ".git/hooks")],
      ["core.pager", run],
      ["core.editor", run],
      ["core.gitProxy", run],
      ["credential.helper", `!${run}`],
      ["uploadpack.packObjectsHook", run],
      ["protocol.ext.allow", "always"],
      ["remote.origin.url", `ext::${run}`],
      ["remote.origin.uploadpack", run],
      ["gpg.program", run],
      ["include.path", join(root, "included")],
      ["alias.status", `!${run}`],
    ])
      await git("config", key!, value!);
    writeFileSync(join(root, "included"), `[core]\n\tfsmonitor = ${run}\n`);
    writeFileSync(join(project, "changed"), "not committed");
    own();
    // The control: a plain git that looks at this repository does run what it says.
    await git("status");
    expect(existsSync(canary)).toBe(true);
    await runProgram(["rm", "-f", canary]);

    for (const carry of ["none", "dirty"]) {
      const created = await create("--carry", carry);
      expect(created.code === 0 || /error\[workspace\./.test(created.stderr), created.stderr).toBe(true);
      expect(existsSync(canary), carry).toBe(false);
      if (created.code !== 0) continue;
      expect((await inBox(ground.daemon, box, ["cat", "code"])).stdout).toBe("code");
      // Nothing of that configuration came along into the box's clone.
      const { stdout } = await inBox(ground.daemon, box, [
        "sh",
        "-c",
        "cat .git/config; ls .git/hooks 2>/dev/null",
      ]);
      expect(stdout).not.toContain("touch");
      expect((await ground.daemon.cli(["rm", "--force", box])).code).toBe(0);
    }
    expect(existsSync(canary)).toBe(false);
  });

  it("gets nothing outside its workspace until somebody names the digest", async () => {
    const { daemon } = ground;
    writeManifest(
      `[[mounts]]\nsource = "${secret}"\ntarget = "/data"\n[env]\nTOKEN = { from_host = "HOST_TOKEN" }\n`,
    );
    const refused = await create();
    expect(refused).toMatchObject({ code: 5 });
    expect(refused.stderr).toContain("error[trust.required]");
    expect(refused.stderr).toContain(secret);
    expect(refused.stderr).toContain("HOST_TOKEN");
    expect(await exists()).toBe(false);
    const [event] = await eventsOf(daemon, "trust.refused");
    expect(event?.data).toMatchObject({ projectDir: realpathSync(project) });
    const digest = event!.data["digest"] as string;

    const wrong = await create(
      "--trust",
      digest.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    );
    expect(wrong.stderr).toContain("error[trust.digest_mismatch]");
    for (const guess of ["", "yes", "sha256:", "*"])
      expect((await create("--trust", guess)).code).not.toBe(0);
    expect(await exists()).toBe(false);

    // The control: with the digest of exactly this request it is granted, and recorded.
    expect(await create("--trust", digest)).toMatchObject({ code: 0 });
    const { stdout } = await inBox(daemon, box, ["sh", "-c", 'cat /data/file; echo " $TOKEN"']);
    expect(stdout).toBe("host secret host token\n");
    expect((await eventsOf(daemon, "trust.granted"))[0]?.data).toMatchObject({ digest });
  });

  hostCases(() => {
    it("is asked again when it asks for something else", async () => {
      const { daemon } = ground;
      const request = `[[mounts]]\nsource = "${secret}"\ntarget = "/data"\n`;
      writeManifest(request);
      await create();
      const digest = (await eventsOf(daemon, "trust.refused"))[0]!.data["digest"] as string;
      expect((await create("--trust", digest)).code).toBe(0);
      await daemon.cli(["rm", "--force", box]);
      // Controls: the same request is remembered, and one that stays inside needs no yes.
      expect((await create()).code).toBe(0);
      await daemon.cli(["rm", "--force", box]);
      writeManifest(`[env]\nINSIDE = "1"\n${request}`);
      expect((await create()).code).toBe(0);
      await daemon.cli(["rm", "--force", box]);

      for (const changed of [
        request.replace('"/data"', '"/other"'),
        `${request}access = "write"\n`,
        request.replace(secret, root),
        `${request}[[mounts]]\nsource = "~/.ssh"\ntarget = "/keys"\n`,
        `${request}[env]\nX = { from_host = "HOST_TOKEN" }\n`,
        `[workspace]\nmode = "mount"\n${request}`,
      ]) {
        writeManifest(changed);
        expect((await create()).code, changed).not.toBe(0);
        expect((await create("--trust", digest)).code, changed).not.toBe(0);
        expect(await exists()).toBe(false);
      }
      expect((await eventsOf(daemon, "trust.refused"))[0]!.data["digest"]).not.toBe(digest);
    });

    it("shows where a link leads, and asks again when it leads elsewhere", async () => {
      const { daemon } = ground;
      const harmless = join(project, "docs");
      mkdirSync(harmless);
      writeFileSync(join(harmless, "file"), "harmless");
      symlinkSync(harmless, join(project, "link"));
      writeManifest(`[[mounts]]\nsource = "./link"\ntarget = "/data"\n`);
      if (isRoot && ground.isRootDaemon) await runProgram(["chmod", "-R", "a+rX", root]);
      const first = await create();
      const digest = (await eventsOf(daemon, "trust.refused"))[0]!.data["digest"] as string;
      expect(first.stderr).toContain(harmless);
      expect((await create("--trust", digest)).code).toBe(0);
      expect((await inBox(daemon, box, ["cat", "/data/file"])).stdout).toBe("harmless");
      await daemon.cli(["rm", "--force", box]);

      await runProgram(["ln", "-sfn", secret, join(project, "link")]);
      expect((await create("--trust", digest)).stderr).toContain("error[trust.digest_mismatch]");
      expect(await exists()).toBe(false);
      const second = await create();
      expect(second.stderr).toContain("error[trust.required]");
      expect(second.stderr).toContain(secret);
    });
  });

  it("does not turn a harmless directory that was trusted into another one later", async () => {
    const { daemon } = ground;
    const source = join(project, "swap");
    mkdirSync(source);
    writeFileSync(join(source, "file"), "harmless");
    writeManifest(`[[mounts]]\nsource = "./swap"\ntarget = "/data"\n`);
    if (isRoot && ground.isRootDaemon) await runProgram(["chmod", "-R", "a+rX", root]);
    await create();
    const digest = (await eventsOf(daemon, "trust.refused"))[0]!.data["digest"] as string;
    expect((await create("--trust", digest)).code).toBe(0);
    expect((await inBox(daemon, box, ["cat", "/data/file"])).stdout).toBe("harmless");
    // After creation the project swaps the directory for a link; the next start must not follow it.
    await runProgram(["mv", source, `${source}-old`]);
    symlinkSync(secret, source);
    const restarted = await daemon.cli(["restart", box]);
    const shown = await inBox(daemon, box, ["cat", "/data/file"]);
    expect({ restart: restarted.code !== 0, shown: shown.stdout }).toEqual({ restart: true, shown: "" });
    expect(restarted.stderr).toContain("error[mount.invalid]");
  });

  it("never gets the daemon's own places, even when somebody agrees", async () => {
    const { daemon } = ground;
    for (const source of [daemon.home, join(daemon.home, "boxes"), "/", "/proc", "/run", "/dev"]) {
      writeManifest(`[[mounts]]\nsource = "${source}"\ntarget = "/data"\n`);
      const refused = await create();
      const digest = /sha256:[0-9a-f]{64}/.exec(refused.stderr)?.[0];
      const agreed = digest === undefined ? refused : await create("--trust", digest);
      expect(agreed.code, source).not.toBe(0);
      expect(agreed.stderr, source).toMatch(/error\[(mount|manifest)\.invalid\]/);
      await daemon.cli(["rm", "--force", box]);
    }
    expect(readFileSync(join(secret, "file"), "utf8")).toBe("host secret");
  });
};

onEachDaemon("a hostile repository", cases);
