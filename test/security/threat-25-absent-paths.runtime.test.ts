/**
 * Threat 25: protection that exists only where the file did. Everything is tried with the path absent when the box
 * starts, made from inside, and looked at again after the next start.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { chownTree, emptyBox, type Ground, inBox, onEachDaemon, shellInBox } from "./attack.ts";

const mountsOf = async ({ daemon }: Ground, box: string): Promise<string[]> =>
  (await inBox(daemon, box, ["awk", '{ split($4, o, ","); print $2, o[1] }', "/proc/mounts"])).stdout
    .trim()
    .split("\n")
    .toSorted();

const cases = (ground: Ground): void => {
  it("keeps the supervisor's places closed to what is not there yet", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "absent-places");
    const paths = [
      "/run/agentbox/box2.json",
      "/run/agentbox/link.sock.new",
      "/var/run/agentbox/x",
      "/opt/agentbox/boxd/preload.js",
      "/opt/agentbox/bin/git",
      "/opt/agentbox/hook",
      "/etc/ld.so.preload",
      "/etc/profile.d/x.sh",
      "/usr/local/bin/node",
      "/usr/lib/node_modules/x",
      "/lib/x",
      "/sbin/x",
      "/boot",
      "/root",
      "/sys",
      "/srv",
    ];
    for (const path of [
      "/workspace/control",
      "/home/agent/.local/bin/control",
      "/tmp/control",
      "/run/control",
    ])
      expect((await shellInBox(daemon, box, `mkdir -p $(dirname ${path}) && touch ${path}`)).code, path).toBe(
        0,
      );
    for (const path of paths) {
      const { code } = await shellInBox(daemon, box, `mkdir -p $(dirname ${path}) && touch ${path}`);
      expect(code, path).not.toBe(0);
      expect((await inBox(daemon, box, ["mkdir", path])).code, path).not.toBe(0);
    }
    // Moving what is there out of the way does not help either.
    for (const path of [
      "/run",
      "/run/agentbox",
      "/run/agentbox/link.sock",
      "/run/secrets",
      "/opt/agentbox/boxd/boxd.js",
      "/etc/passwd",
    ]) {
      expect((await inBox(daemon, box, ["mv", path, "/tmp/moved"])).code, path).not.toBe(0);
      expect((await inBox(daemon, box, ["rm", "-rf", path])).code, path).not.toBe(0);
    }
  });

  it("does not take orders from files that appear in the home or the workspace", async () => {
    const { daemon } = ground;
    const project = mkdtempSync(join(daemon.scratch, "project-"));
    writeFileSync(join(project, "README"), "no manifest here");
    if (isRoot && !ground.isRootDaemon) chownTree(project, ordinaryUser);
    const { box } = await daemon.client.createBox({ name: "absent-orders", projectDir: project });
    const before = await mountsOf(ground, "absent-orders");
    const canary = join(daemon.scratch, "absent-canary");
    const planted = `version = 1\\n[workspace]\\nmode = "mount"\\n[env]\\nPLANTED = "yes"\\n[[mounts]]\\nsource = "/etc"\\ntarget = "/host-etc"\\naccess = "write"\\n[services.x]\\ncommand = "touch /workspace/service-ran"\\n`;
    const { code } = await shellInBox(
      daemon,
      "absent-orders",
      `printf '${planted}' | tee /workspace/agentbox.toml /home/agent/agentbox.toml > /dev/null
       mkdir -p /home/agent/.agentbox && printf '[limits]\\nmax_ttl = "90d"\\n' > /home/agent/.agentbox/config.toml
       mkdir -p /workspace/.agentbox && cp /workspace/agentbox.toml /workspace/.agentbox/
       printf '{"env":{"PLANTED":"yes"}}' > /home/agent/box.json
       mkdir -p /home/agent/.local/bin && for p in node sh git bwrap; do printf '#!/bin/sh\\ntouch ${canary} /tmp/shadowed' > /home/agent/.local/bin/$p; done`,
    );
    expect(code).toBe(0);
    expect((await daemon.cli(["restart", "absent-orders"])).code).toBe(0);

    const after = (await daemon.client.getBox("absent-orders")).box;
    expect(after.spec).toEqual(box.spec);
    expect(await mountsOf(ground, "absent-orders")).toEqual(before);
    const { stdout } = await shellInBox(
      daemon,
      "absent-orders",
      'echo "[$PLANTED]"; find /host-etc service-ran -maxdepth 0 2>/dev/null',
    );
    expect(stdout).toBe("[]\n");
    expect(existsSync(canary)).toBe(false);
    // The control: the file itself is there, so that the next start could have read it.
    expect((await inBox(daemon, "absent-orders", ["test", "-s", "/workspace/agentbox.toml"])).code).toBe(0);
  });

  it("refuses to mount through a link that appeared where a mount goes", async () => {
    const { daemon } = ground;
    const source = mkdtempSync(join(daemon.scratch, "shared-"));
    writeFileSync(join(source, "shared"), "shared");
    if (isRoot) {
      await runProgram(["chmod", "-R", "a+rX", source]);
      if (ground.isRootDaemon) await runProgram(["chmod", "a+x", daemon.scratch]);
      else chownTree(source, ordinaryUser);
    }
    const mounts = [{ source, target: "/workspace/a/b" }];
    const box = await emptyBox(daemon, "absent-mount", { mounts });
    // Controls: the mount is there, and a restart brings it back.
    expect((await inBox(daemon, box, ["cat", "/workspace/a/b/shared"])).stdout).toBe("shared");
    expect((await daemon.cli(["restart", box])).code).toBe(0);
    expect((await inBox(daemon, box, ["cat", "/workspace/a/b/shared"])).stdout).toBe("shared");

    const victim = join(daemon.scratch, "absent-victim");
    mkdirSync(victim);
    if (isRoot && !ground.isRootDaemon) chownTree(victim, ordinaryUser);
    const { code } = await shellInBox(daemon, box, `mv a moved && ln -s ${victim} a`);
    expect(code).toBe(0);
    const restarted = await daemon.cli(["restart", box]);
    expect(restarted.code).not.toBe(0);
    expect(restarted.stderr).toContain("error[mount.invalid]");
    expect(existsSync(join(victim, "b"))).toBe(false);
    expect((await daemon.client.getBox(box)).box.state.phase).not.toBe("running");
    rmSync(victim, { recursive: true });
  });

  it("runs no hook that appears in the clone's repository", async () => {
    const { daemon } = ground;
    const project = mkdtempSync(join(daemon.scratch, "repo-"));
    const git = (...args: string[]) =>
      runProgram(["git", "-c", "user.name=t", "-c", "user.email=t@t.test", "-C", project, ...args]);
    await git("init", "-q");
    writeFileSync(join(project, "file"), "x");
    await git("add", ".");
    await git("commit", "-qm", "one");
    if (isRoot && !ground.isRootDaemon) chownTree(project, ordinaryUser);
    await daemon.client.createBox({
      name: "absent-hooks",
      projectDir: project,
      flags: { workspace: { mode: "clone" } },
    });
    const canary = join(daemon.scratch, "hook-canary");
    const { code, stdout } = await shellInBox(
      daemon,
      "absent-hooks",
      `mkdir -p .git/hooks && for h in post-checkout pre-commit post-commit pre-auto-gc fsmonitor-watchman; do
         printf '#!/bin/sh\\ntouch ${canary} /workspace/hook-ran' > .git/hooks/$h; chmod +x .git/hooks/$h; done
       git config core.fsmonitor "touch ${canary}" && git config core.sshCommand "touch ${canary}" && git config diff.external "touch ${canary}"
       printf '* filter=x\\n' > .gitattributes && git config filter.x.smudge "touch ${canary}"
       git -c core.fsmonitor= commit -q --allow-empty -m inside; find hook-ran`,
    );
    // The control: inside the box, where it may, the hook does run.
    expect({ code, stdout }).toEqual({ code: 0, stdout: "hook-ran\n" });
    for (const args of [
      ["restart", "absent-hooks"],
      ["inspect", "absent-hooks"],
      ["stats", "absent-hooks"],
      ["cp", "absent-hooks:/workspace", join(daemon.scratch, "hooks-out")],
      ["stop", "absent-hooks"],
      ["rm", "--force", "absent-hooks"],
    ]) {
      const { code: ended, stderr } = await daemon.cli(args);
      expect({ args, ended, stderr }).toEqual({ args, ended: 0, stderr: expect.any(String) });
    }
    expect(existsSync(canary)).toBe(false);
  });

  it("keeps a mounted directory's settings closed, also those that are not there", async () => {
    const { daemon } = ground;
    const project = mkdtempSync(join(daemon.scratch, "mounted-"));
    mkdirSync(join(project, ".git/hooks"), { recursive: true });
    writeFileSync(join(project, ".git/config"), "[core]\n");
    await runProgram(["chmod", "-R", "a+rwX", project]);
    if (isRoot && !ground.isRootDaemon) chownTree(project, ordinaryUser);
    if (ground.isRootDaemon) await runProgram(["chmod", "a+x", daemon.scratch]);
    await daemon.client.createBox({
      name: "absent-settings",
      projectDir: project,
      flags: { workspace: { mode: "mount" } },
    });
    const make = (path: string) =>
      shellInBox(daemon, "absent-settings", `mkdir -p "$(dirname ${path})" && echo planted >> ${path}`);
    // The control: the directory itself is the box's to write.
    for (const path of ["file", "src/file", ".eslintrc"]) expect((await make(path)).code, path).toBe(0);
    const guarded = [
      ".git/hooks/post-checkout",
      ".git/config",
      ".git/commondir",
      ".git/info/attributes",
      ".git/modules/x/config",
      ".vscode/tasks.json",
      ".idea/workspace.xml",
      ".envrc",
      ".bashrc",
      ".claude/settings.json",
      ".mcp.json",
      ".husky/pre-commit",
      "agentbox.toml",
    ];
    for (const path of guarded) expect((await make(path)).code, path).not.toBe(0);
    for (const name of [".git", ".vscode", ".envrc", ".mcp.json"]) {
      for (const way of [
        `mv ${name} away`,
        `rm -rf ${name}`,
        `ln -sfn src ${name}`,
        `mv -T src ${name}`,
        `umount ${name}`,
      ])
        expect((await shellInBox(daemon, "absent-settings", way)).code, way).not.toBe(0);
    }
    expect((await daemon.cli(["stop", "absent-settings"])).code).toBe(0);
    expect(readdirSync(project).toSorted()).toEqual([".eslintrc", ".git", "file", "src"]);
    expect(readdirSync(join(project, ".git")).toSorted()).toEqual(["config", "hooks"]);
    expect(readFileSync(join(project, ".git/config"), "utf8")).toBe("[core]\n");
    expect((await daemon.cli(["rm", "absent-settings"])).code).toBe(0);
  });
};

onEachDaemon("absent paths", cases);
