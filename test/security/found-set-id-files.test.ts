/**
 * A box that writes into a mounted directory of the host leaves a set-id file there, and another user of the machine runs
 * it as the directory's owner. Control: the same program outside of a box makes all of them. Denial: in a box each way is
 * refused by the kernel, softly, and the host's directory has no such file; ordinary modes and programs work.
 */
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { itUnless } from "../support/skipping.ts";
import { testRuntime } from "../support/test-runtime.ts";
import {
  chownTree,
  compile,
  compilerMissing,
  type Ground,
  inBox,
  onEachDaemon,
  shellInBox,
} from "./attack.ts";

/** gVisor takes no filter of calls; docs/drivers/gvisor.md says what that means. */
const missing = testRuntime?.name === "gvisor" ? "gVisor does not refuse set-id bits" : undefined;
const EPERM = 1;
const ENOSYS = 38;

type Answers = Readonly<Record<string, number>>;
/** Files that are not set-id, and stay allowed. */
const ordinary = ["ordinary", "sticky", "created", "opened", "directory"];

const setIdFilesIn = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true })
    .map(String)
    .filter((name) => (lstatSync(join(directory, name)).mode & 0o6000) !== 0);

/** A directory of the daemon's user, mounted as a box's workspace. */
async function mounted({ daemon, isRootDaemon }: Ground, box: string): Promise<string> {
  const project = mkdtempSync(join(daemon.scratch, "shared-"));
  mkdirSync(join(project, "files"));
  chmodSync(project, 0o755);
  chmodSync(join(project, "files"), 0o777);
  if (isRoot && !isRootDaemon) chownTree(project, ordinaryUser);
  if (isRootDaemon) chmodSync(daemon.scratch, 0o755);
  await daemon.client.createBox({ name: box, projectDir: project, flags: { workspace: { mode: "mount" } } });
  return project;
}

const cases = (ground: Ground): void => {
  itUnless(missing ?? compilerMissing())("refuses every way to make one in a mounted directory", async () => {
    const program = await compile(join(import.meta.dirname, "set-id.c"));
    const project = await mounted(ground, "set-id");

    // Empty files, in a directory that only this user can enter.
    const outside = mkdtempSync(join(process.env["AGENTBOX_TEST_RUN"] ?? tmpdir(), "set-id-"));
    const control = await runProgram([program, outside]);
    const granted = JSON.parse(control.stdout) as Answers;
    // The newest of the calls are not in every kernel.
    const unknown = Object.keys(granted).filter((name) => granted[name] === ENOSYS);
    expect(Object.entries(granted).filter(([name, errno]) => errno !== 0 && !unknown.includes(name))).toEqual(
      [],
    );
    expect(setIdFilesIn(outside)).toEqual(
      expect.arrayContaining(["chmod", "creat", "mknod", "open", "unnamed"]),
    );

    cpSync(program, join(project, "files", "probe"));
    chmodSync(join(project, "files", "probe"), 0o755);
    const { stdout, stderr } = await inBox(ground.daemon, "set-id", [
      "/workspace/files/probe",
      "/workspace/files",
    ]);
    expect(stderr).toBe("");
    const answers = JSON.parse(stdout) as Answers;
    for (const [name, errno] of Object.entries(answers)) {
      const expected = ordinary.includes(name) ? 0 : name === "openat2" ? ENOSYS : EPERM;
      expect(unknown.includes(name) ? EPERM : errno, name).toBe(unknown.includes(name) ? EPERM : expected);
    }
    expect(setIdFilesIn(project)).toEqual([]);
    expect(lstatSync(join(project, "files", "sticky")).mode & 0o7777).toBe(0o1755);
  });

  itUnless(missing)("leaves programs at work that set modes", async () => {
    const project = await mounted(ground, "set-modes");
    const script = `cd files && umask 022 && printf x > a && chmod 750 a && cp -p a b && install -m 711 a c &&
      tar cf t.tar a b c && mkdir out && tar xpf t.tar -C out && git init -q repository && cd repository &&
      printf y > y && git add y && git -c user.name=a -c user.email=a@b.c commit -qm y && ls`;
    expect(await shellInBox(ground.daemon, "set-modes", script)).toMatchObject({ code: 0, stdout: "y\n" });
    expect(lstatSync(join(project, "files", "out", "c")).mode & 0o7777).toBe(0o711);
    const refused = await shellInBox(ground.daemon, "set-modes", "cd files && chmod u+s a");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/not permitted/i);
    expect(setIdFilesIn(project)).toEqual([]);
  });
};

onEachDaemon("set-id files", cases);
