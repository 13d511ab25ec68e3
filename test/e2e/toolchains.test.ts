/** Toolchains of a home in a box: after one yes, read-only, and nothing else of the home. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ToolchainOffer } from "../../src/contract/toolchain.ts";
import { chownTree, eventsOf, type Ground, onEachDaemon, shellInBox } from "../security/attack.ts";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";

const canary = "canary-of-the-home";

/** A home as version managers leave it, closed to others, with a project in it. */
function prepare({ daemon, isRootDaemon }: Ground, name: string, files: Record<string, string>): string {
  const home = daemon.scratch;
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), text, { mode });
    chmodSync(join(home, path), mode);
  };
  for (const version of ["3.11.7", "3.12.1"]) {
    write(`.pyenv/versions/${version}/bin/python3`, `#!/bin/sh\necho home ${version}\n`, 0o755);
    write(`.pyenv/versions/${version}/pip.conf`, `[global]\nindex-url = https://me:${canary}@example.com/\n`);
    write(`.pyenv/versions/${version}/envs/e/pip.conf`, canary);
  }
  write(".pyenv/secret", canary);
  write(".cargo/credentials.toml", canary);
  write(".rustup/toolchains/stable-x/bin/cargo", "#!/bin/sh\necho home cargo\n", 0o755);
  write("elsewhere/bin/python3", "#!/bin/sh\necho elsewhere\n", 0o755);
  rmSync(join(home, ".pyenv/versions/9.9.9"), { force: true });
  symlinkSync(join(home, "elsewhere"), join(home, ".pyenv/versions/9.9.9"));
  for (const [file, text] of Object.entries(files)) write(`${name}/${file}`, text);
  chmodSync(home, 0o700);
  if (isRoot && !isRootDaemon) chownTree(home, ordinaryUser);
  return join(home, name);
}

onEachDaemon("toolchains of the home", (ground: Ground) => {
  const offers = async (cwd: string) => {
    const { toolchains } = await ground.daemon.json<{ toolchains: ToolchainOffer[] }>(["toolchains"], {
      cwd,
    });
    return toolchains.map(({ language, state, toolchain }) => [language, state, toolchain?.version]);
  };
  const create = async (name: string, cwd: string) => {
    const { code, stderr } = await ground.daemon.cli(["create", "--name", name], {
      cwd,
    });
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    const started = await ground.daemon.cli(["start", name]);
    expect(started.code, started.stderr).toBe(0);
    return stderr;
  };

  it("are offered, shown after one yes, and without what lies beside them", async () => {
    const { daemon } = ground;
    const project = prepare(ground, "asks", { ".python-version": "3.12\n", "rust-toolchain": "stable\n" });
    const shell = (box: string, script: string) => shellInBox(daemon, box, script);
    expect(await offers(project)).toEqual([
      ["python", "offered", "3.12.1"],
      ["rust", "offered", "stable-x"],
    ]);
    // Before the yes: the box is made without them, and a line says so.
    expect(await create("before-yes", project)).toContain("agentbox toolchains allow");
    const before = await shell("before-yes", `echo control; python3 --version; ls ${daemon.scratch}`);
    expect(before.stdout).toMatch(/^control\n/);
    expect(before.stdout).not.toContain("home");

    expect((await daemon.cli(["toolchains", "allow"], { cwd: project })).code).toBe(0);
    expect((await offers(project)).map(([, state]) => state)).toEqual(["shown", "shown"]);
    const granted = (await eventsOf(daemon, "trust.granted")).flatMap(
      ({ data }) => data["requests"] as string[],
    );
    expect(granted).toContainEqual(
      expect.stringContaining("show python 3.12.1 of pyenv to boxes, read-only"),
    );

    await create("after-yes", project);
    const own = `${daemon.scratch}/.pyenv/versions`;
    expect((await shell("after-yes", "python3; cargo; echo $PYENV_ROOT")).stdout).toBe(
      `home 3.12.1\nhome cargo\n${daemon.scratch}/.pyenv\n`,
    );
    // The files that installers keep beside programs are there on the host, and empty here.
    const { stdout } = await shell(
      "after-yes",
      `ls -A ${own}; wc -c < ${own}/3.12.1/pip.conf; wc -c < ${own}/3.12.1/envs/e/pip.conf; grep -rs ${canary} ${daemon.scratch}
       for file in ${own}/3.12.1/bin/python3 ${own}/3.12.1/x /tmp/control; do echo x 2>/dev/null >> $file && echo wrote $file; done`,
    );
    expect(stdout).toBe("3.12.1\n0\n0\nwrote /tmp/control\n");
    // After a restart, too; and a version that has gone since is gone.
    expect((await daemon.cli(["restart", "after-yes"])).code).toBe(0);
    expect((await shell("after-yes", "python3")).stdout).toBe("home 3.12.1\n");

    expect((await daemon.cli(["trust", "revoke"], { cwd: project })).code).toBe(0);
    expect((await offers(project)).map(([, state]) => state)).toEqual(["offered", "offered"]);
  });

  it("are for every project where that was said, and none where the manifest says so", async () => {
    const { daemon } = ground;
    const project = prepare(ground, "first", { ".python-version": "3.11\n" });
    const other = prepare(ground, "other1", { ".python-version": "3.11\n" });
    const none = prepare(ground, "none12", {
      ".python-version": "3.11\n",
      "agentbox.toml": 'version = 1\n[toolchains]\nfind = "none"\n',
    });
    const named = prepare(ground, "named12", {
      ".python-version": "3.11\n",
      "agentbox.toml": 'version = 1\n[toolchains]\nuse = ["python 3.12"]\n',
    });
    expect((await daemon.cli(["toolchains", "allow", "--all"], { cwd: project })).code).toBe(0);
    expect(await offers(other)).toEqual([["python", "shown", "3.11.7"]]);
    expect(await offers(none)).toEqual([]);
    expect(await offers(named)).toEqual([["python", "offered", "3.12.1"]]);
    expect((await daemon.cli(["trust", "revoke", "*"], { cwd: other })).code).toBe(0);
    expect(await offers(other)).toEqual([["python", "offered", "3.11.7"]]);
  });

  it("are a row of what validate says of a manifest", async () => {
    const { daemon } = ground;
    const project = prepare(ground, "valid1", {
      ".python-version": "3.12\n",
      "agentbox.toml": "version = 1\n",
    });
    const row = async () =>
      (await daemon.cli(["validate"], { cwd: project })).stdout
        .split("\n")
        .filter((line) => /^ *toolchain/.test(line));
    expect(await row()).toEqual([
      expect.stringMatching(/python 3\.12 \(\.python-version\), after your yes: 3\.12\.1 of pyenv/),
    ]);
    const { toolchains } = await daemon.json<{ toolchains: ToolchainOffer[] }>(["validate"], {
      cwd: project,
    });
    expect(toolchains.map(({ language, state }) => [language, state])).toEqual([["python", "offered"]]);
    expect((await daemon.cli(["toolchains", "allow"], { cwd: project })).code).toBe(0);
    expect((await row())[0]).not.toContain("after your yes");
    expect((await daemon.cli(["trust", "revoke"], { cwd: project })).code).toBe(0);
  });

  it("lead nowhere else, whatever the project or a link says", async () => {
    const { daemon } = ground;
    const project = prepare(ground, "hostile", { ".python-version": "9.9.9\n", ".nvmrc": "../../../etc\n" });
    // The control: the link is there, and its program runs.
    expect((await offers(project)).map(([, state]) => state)).not.toContain("offered");
    const other = prepare(ground, "digests", { ".python-version": "3.12\n" });
    const refused = daemon.client.allowToolchains({ projectDir: other, digests: ["sha256:0"] });
    await expect(refused).rejects.toMatchObject({ code: "trust.digest_mismatch" });
    expect(await offers(other)).toEqual([["python", "offered", "3.12.1"]]);
  });
});
