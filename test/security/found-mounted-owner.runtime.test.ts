/**
 * Found: under a root daemon a mounted workspace belonged to another user inside the box. Nothing could be written, git
 * refused to work there, and AgentBox did not say so. Its owner is mapped to the box's user, and no one else's files.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { type TestDaemon, type TestDaemonOptions, startDaemon } from "../support/daemon.ts";
import { testRuntime, whyNoBoxes } from "../support/test-runtime.ts";
import { eventsOf, hostCases, shellInBox } from "./attack.ts";

const owner = { uid: 1234, gid: 1234 };

/** A repository of `owner`, in which one file belongs to another user. */
async function makeProject(daemon: TestDaemon): Promise<string> {
  chmodSync(daemon.scratch, 0o711);
  const project = mkdtempSync(join(daemon.scratch, "project-"));
  writeFileSync(join(project, "mine"), "mine\n", { mode: 0o640 });
  const identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
  for (const args of [
    ["init", "-q"],
    ["add", "mine"],
    [...identity, "commit", "-qm", "first"],
  ])
    expect((await runProgram(["git", "-C", project, ...args])).code).toBe(0);
  await runProgram(["chown", "-R", `${owner.uid}:${owner.gid}`, project]);
  chmodSync(project, 0o700);
  writeFileSync(join(project, "of-root"), "secret of root\n", { mode: 0o600 });
  return project;
}

const mounted = (project: string) => ({
  projectDir: project,
  flags: { workspace: { mode: "mount" as const } },
});

/** Of this daemon alone: others may run beside it. */
function ownedMounts({ home }: TestDaemon): readonly string[] {
  const installation = createHash("sha256").update(join(home, "boxes")).digest("hex").slice(0, 12);
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(` /run/agentbox/${installation}`));
}

const underRootDaemon = (): void => {
  const withRootDaemon = async (
    skip: (why: string) => never,
    body: (daemon: TestDaemon) => Promise<void>,
    options: TestDaemonOptions = {},
  ) => {
    if (!isRoot) skip("needs root");
    const why = await whyNoBoxes();
    if (why !== undefined) skip(why);
    await using daemon = await startDaemon(options);
    await body(daemon);
  };

  it("is the box's to write, and stays its owner's on the host", async ({ skip }) => {
    await withRootDaemon(skip, async (daemon) => {
      const project = await makeProject(daemon);
      const { box } = await daemon.client.createBox({ name: "mapped", ...mounted(project) });
      const said = await shellInBox(
        daemon,
        box.name,
        "cat mine && echo more >> mine && mkdir src && echo new > src/new && git status --porcelain && for path in . src mine; do test -O $path && echo owned; done",
      );
      expect(said).toMatchObject({ code: 0, stderr: "" });
      expect(said.stdout.trim().split("\n").slice(-3)).toEqual(["owned", "owned", "owned"]);
      expect(ownedMounts(daemon)).not.toEqual([]);
      for (const path of ["mine", "src", "src/new"]) {
        const { uid, gid } = statSync(join(project, path));
        expect({ path, uid, gid }).toEqual({ path, ...owner });
      }
      // Not public: a file of another user of the host is closed to the box, and stays theirs.
      const stolen = await shellInBox(daemon, box.name, "cat of-root");
      expect(stolen.code).not.toBe(0);
      expect(stolen.stderr).toContain("Permission denied");
      const given = await shellInBox(daemon, box.name, `chown 0 mine`);
      expect(given.code).not.toBe(0);
      // The settings that the host would run stay closed as well: the box's git directory is its own.
      await shellInBox(daemon, box.name, "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit");
      expect(existsSync(join(project, ".git/hooks/pre-commit"))).toBe(false);

      await daemon.client.restartBox(box.name);
      expect((await shellInBox(daemon, box.name, "echo again >> mine")).code).toBe(0);
      await daemon.client.removeBox(box.name, { force: true });
      expect(readFileSync(join(project, "mine"), "utf8")).toBe("mine\nmore\nagain\n");
      expect(ownedMounts(daemon)).toEqual([]);
    });
  });

  it("is mapped for other directories that a box may write, too, and for no other box's user", async ({
    skip,
  }) => {
    await withRootDaemon(skip, async (daemon) => {
      const shared = mkdtempSync(join(daemon.scratch, "shared-"));
      chmodSync(daemon.scratch, 0o711);
      chmodSync(shared, 0o700);
      writeFileSync(join(shared, "file"), "x", { mode: 0o600 });
      await runProgram(["chown", "-R", `${owner.uid}:${owner.gid}`, shared]);
      const create = (name: string, readOnly: boolean) =>
        daemon.client.createBox({
          name,
          flags: {
            workspace: { mode: "empty" as const },
            mounts: [{ source: shared, target: "/data", access: readOnly ? "read" : "write" }],
          },
        });
      await create("writes", false);
      expect((await shellInBox(daemon, "writes", "echo y >> /data/file")).code).toBe(0);
      expect(statSync(join(shared, "file")).uid).toBe(owner.uid);
      await create("reads", true);
      expect((await shellInBox(daemon, "reads", "cat /data/file")).code).not.toBe(0);
    });
  });

  // An engine does not see what is mounted for the daemon alone.
  hostCases(() => {
    it("refuses where the owner cannot be mapped, and says what to do", async ({ skip }) => {
      // The program that makes the mount is not there.
      const wrap = (argv: readonly string[]) => [
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount --bind /dev/null /usr/bin/perl && exec "$@"',
        "sh",
        ...argv,
      ];
      await withRootDaemon(
        skip,
        async (daemon) => {
          const project = await makeProject(daemon);
          const refused = daemon.client.createBox({ name: "refused", ...mounted(project) });
          await expect(refused).rejects.toMatchObject({
            code: "workspace.source_invalid",
            message: expect.stringContaining(`belongs to user ${owner.uid}`),
            hint: expect.stringContaining("clone"),
          });
          const failures = await eventsOf(daemon, "box.failed");
          expect(failures).toHaveLength(1);
        },
        { wrap },
      );
    });
  });
};

// Where the runtime's daemon is an ordinary user's, nothing can be mapped.
if (testRuntime?.user === undefined) describe("a mounted workspace under a root daemon", underRootDaemon);

if (testRuntime === undefined || testRuntime.user !== undefined)
  it("a person's daemon refuses a directory of another user, in which a box could not write", async ({
    skip,
  }) => {
    if (!isRoot) skip("needs root, to make files of two users");
    const why = await whyNoBoxes(ordinaryUser);
    if (why !== undefined) skip(why);
    await using daemon = await startDaemon({ user: testRuntime?.user ?? ordinaryUser });
    const project = await makeProject(daemon);
    chmodSync(project, 0o755);
    await expect(daemon.client.createBox({ name: "foreign", ...mounted(project) })).rejects.toMatchObject({
      code: "workspace.source_invalid",
    });
    expect(existsSync(join(project, "mine"))).toBe(true);
  });

it("git in a box trusts its workspace, and no other directory", async ({ skip }) => {
  const why = await whyNoBoxes();
  if (why !== undefined) skip(why);
  await using daemon = await startDaemon();
  const project = mkdtempSync(join(daemon.scratch, "plain-"));
  mkdirSync(join(project, "sub"));
  chmodSync(daemon.scratch, 0o711);
  const user = testRuntime?.user;
  if (user !== undefined) chownSync(project, user.uid, user.gid);
  for (const mode of ["copy", "empty"] as const) {
    const { box } = await daemon.client.createBox({
      name: `git-${mode}`,
      ...(mode === "copy" ? { projectDir: project } : {}),
      flags: { workspace: { mode } },
    });
    const said = await shellInBox(daemon, box.name, "git config --system --get-all safe.directory");
    expect({ mode, ...said }).toMatchObject({ mode, code: 0, stdout: "/workspace\n" });
  }
});
