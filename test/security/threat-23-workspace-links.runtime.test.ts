/**
 * Threat 23: links that a box leaves in its workspace and home for the host to follow. Every action of the host that
 * comes near them is done, and a secret of the host is neither read, changed, moved nor removed.
 */
import {
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { accepting, codeOf, makeProject, merge, reviewOf, working } from "../support/review.ts";
import { chownTree, emptyBox, type Ground, hostCases, inBox, onEachDaemon, shellInBox } from "./attack.ts";

/** Old, so that even a file system that writes access times rarely would write this one. */
const longAgo = new Date("2020-01-01T00:00:00Z");

const cases = (ground: Ground): void => {
  let directory: string;
  let secret: string;
  let box: string;
  let count = 0;

  const age = () => {
    for (const path of [secret, directory]) utimesSync(path, longAgo, longAgo);
  };
  const wasRead = () => statSync(secret).atimeMs !== longAgo.getTime();

  beforeEach(async () => {
    directory = mkdtempSync("/tmp/abx-secret-");
    secret = join(directory, "secret");
    // Of the very user that the daemon is, so that only not following protects it.
    writeFileSync(secret, "host secret", { mode: 0o600 });
    if (isRoot && !ground.isRootDaemon) chownTree(directory, ordinaryUser);
    box = await emptyBox(ground.daemon, `links-${++count}`);
    const { code } = await shellInBox(
      ground.daemon,
      box,
      `for d in /workspace /home/agent; do cd $d
         ln -s ${secret} file; ln -s ${directory} dir; ln -s / root; ln -s ../../../../../../../.. up; ln -s loop loop
         mkdir -p deep/er && ln -s ${directory} deep/er/dir && mkdir closed && touch closed/inside && chmod 0 closed
         ln -s ${secret} .bashrc; ln -s ${directory} .config; ln -s ${secret} agentbox.toml; ln -s ${directory} logs
       done; true`,
    );
    expect(code).toBe(0);
    age();
  });
  afterEach(() => {
    expect(readFileSync(secret, "utf8")).toBe("host secret");
    expect(readdirSync(directory)).toEqual(["secret"]);
    const found = lstatSync(secret);
    expect(found.mode & 0o777).toBe(0o600);
    expect(found.uid).toBe(isRoot && !ground.isRootDaemon ? ordinaryUser.uid : process.getuid?.());
    rmSync(directory, { recursive: true });
  });

  it("are seen by this test when somebody does follow them", async () => {
    const { workspace } = (await ground.daemon.client.getBox(box)).paths;
    expect(wasRead()).toBe(false);
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("host secret");
    expect(wasRead()).toBe(true);
  });

  it("show the box itself nothing", async () => {
    const { stdout } = await shellInBox(
      ground.daemon,
      box,
      "cat file dir/secret up/tmp/*/secret 2>/dev/null; true",
    );
    expect(stdout).toBe("");
    expect(wasRead()).toBe(false);
  });

  it("are not followed by looking: inspect, stats, logs, ls and events", async () => {
    const { daemon } = ground;
    for (const args of [
      ["inspect", box],
      ["inspect", box, "--json"],
      ["stats", box, "--json"],
      ["ls"],
      ["events", "--box", box],
    ]) {
      const { code, stdout } = await daemon.cli(args);
      expect(code, args.join(" ")).toBe(0);
      expect(stdout).not.toContain("host secret");
    }
    await daemon.cli(["logs", box]);
    // The secret's directory holds little, but "root" and "up" would be the whole disk.
    const { diskBytes } = await daemon.client.getStats(box);
    expect(diskBytes).toBeLessThan(1 << 20);
    expect(wasRead()).toBe(false);
  });

  it("are not followed by copying, in either direction", async () => {
    const { daemon } = ground;
    const target = join(daemon.scratch, `out-${box}`);
    const source = join(daemon.scratch, `in-${box}`);
    writeFileSync(source, "new");
    await daemon.cli(["cp", `${box}:/workspace`, target]);
    for (const path of [
      "/workspace/file",
      "/workspace/dir",
      "/workspace/dir/secret",
      "/home/agent/.bashrc",
    ]) {
      await daemon.cli(["cp", `${box}:${path}`, join(daemon.scratch, "one")]);
      await daemon.cli(["cp", source, `${box}:${path}`]);
    }
    expect(wasRead()).toBe(false);
  });

  it("are not followed by pausing, stopping, starting and a daemon that comes back", async () => {
    const { daemon } = ground;
    for (const args of [["pause"], ["resume"], ["restart"], ["stop"], ["start"]])
      expect((await daemon.cli([...args, box])).code, args.join(" ")).toBe(0);
    await daemon.kill();
    await daemon.start();
    await waitFor("the box is adopted", async () => (await daemon.client.getBox(box)).isConnected);
    expect((await inBox(daemon, box, ["true"])).code).toBe(0);
    expect(wasRead()).toBe(false);
  });

  hostCases(() => {
    it("are shown as links, and not followed, by diff, comments, export, checkpoints and merge", async () => {
      const { daemon } = ground;
      const project = await makeProject(daemon, { "README.md": "# Shop\n", kept: "kept\n" });
      const work = `work-${box}`;
      await working(
        daemon,
        project,
        work,
        `ln -s ${secret} file; ln -s ${directory} dir; ln -s ../../../../../../../..${secret} up; rm kept; ln -s ${secret} kept; rm README.md; ln -s ${directory} README.md`,
      );
      age();
      const review = await reviewOf(daemon, work);
      expect(review.changes.map(({ path, newMode }) => `${newMode} ${path}`)).toEqual(
        ["README.md", "dir", "file", "kept", "up"].map((path) => `120000 ${path}`),
      );
      expect(review.dangers.filter(({ kind }) => kind === "symlink")).toHaveLength(5);
      const [patch, bundle] = [join(daemon.scratch, `${work}.patch`), join(daemon.scratch, `${work}.bundle`)];
      for (const args of [
        ["diff", work],
        ["diff", work, "file"],
        ["diff", work, "dir/secret"],
        ["comment", work, "file:1", "what is this?"],
        ["comment", work, "dir/secret:1", "and this?"],
        ["comment", work],
        ["export", work, "--patch", patch],
        ["export", work, "--bundle", bundle],
        ["checkpoints", work, "--as", "links"],
        ["checkpoints", work, "--fork", `${work}-fork`],
        ["checkpoints", work, "--restore", "base"],
        ["checkpoints", work, "--restore", "links"],
      ]) {
        const { stdout, stderr } = await daemon.cli(args);
        expect(stdout + stderr, args.join(" ")).not.toContain("host secret");
      }
      // A link's text is data: it is what can be seen and commented on.
      expect(readFileSync(patch, "utf8")).toContain(`+${secret}`);
      expect((await daemon.client.listComments(work)).map(({ quoted }) => quoted)).toEqual([secret]);
      // Nor are links followed where a file of the person's is written.
      const trap = join(daemon.scratch, `${work}.trap`);
      symlinkSync(secret, trap);
      await daemon.cli(["export", work, "--patch", trap]);
      rmSync(trap, { force: true });

      const refused = await merge(daemon, work);
      expect(codeOf(refused)).toBe("merge.danger");
      for (const mode of ["patch", "squash"]) {
        const looked = accepting(["symlink", "unfamiliar"]);
        const { code, stderr } = await merge(daemon, work, "--mode", mode, ...looked);
        expect(code, stderr).toBe(0);
        expect(readlinkSync(join(project.dir, "kept"))).toBe(secret);
        expect((await daemon.cli(["undo", work])).code).toBe(0);
        expect(project.read("kept")).toBe("kept\n");
      }
      expect(wasRead()).toBe(false);
    });

    it("of the person's are not written through by a merge", async () => {
      const { daemon } = ground;
      const project = await makeProject(daemon, { "README.md": "# Shop\n" });
      const work = `through-${box}`;
      await working(daemon, project, work, "mkdir out; echo owned > out/secret; echo owned > new");
      // The directory and the file of the work are links of the person's, not committed.
      symlinkSync(directory, join(project.dir, "out"));
      symlinkSync(secret, join(project.dir, "new"));
      age();
      const looked = accepting(["unfamiliar"]);
      for (const mode of ["squash", "patch", "commits"])
        expect(codeOf(await merge(daemon, work, "--mode", mode, ...looked)), mode).toBe("merge.dirty");
      expect(wasRead()).toBe(false);
      // The control: without them it lands.
      rmSync(join(project.dir, "out"));
      rmSync(join(project.dir, "new"));
      expect((await merge(daemon, work, ...looked)).code).toBe(0);
      expect(project.read("out/secret")).toBe("owned\n");
    });
  });

  it("are removed as links, by rm, by prune and by a run that ends", async () => {
    const { daemon } = ground;
    const { workspace } = (await daemon.client.getBox(box)).paths;
    // The control: there is something to remove, and the host can see it.
    expect(lstatSync(join(workspace, "dir")).isSymbolicLink()).toBe(true);
    expect(await daemon.cli(["rm", "--force", box])).toMatchObject({ code: 0 });
    expect(() => lstatSync(workspace)).toThrow("ENOENT");

    const other = await emptyBox(daemon, `${box}-pruned`);
    await shellInBox(
      daemon,
      other,
      `ln -s ${directory} dir; mkdir shut; ln -s ${directory} shut/dir; chmod 0 shut`,
    );
    expect((await daemon.cli(["stop", other])).code).toBe(0);
    expect((await daemon.cli(["prune", "--force"])).code).toBe(0);
    expect((await daemon.client.listBoxes()).map(({ name }) => name)).not.toContain(other);

    const script = `ln -s ${directory} dir; ln -s / root; mkdir shut; touch shut/x; chmod 0 shut`;
    const run = ["run", "shell", "--workspace", "empty", "--rm", "--no-stdin", "--", "sh", "-c", script];
    expect((await daemon.cli(run)).code).toBe(0);
    expect(wasRead()).toBe(false);
  });
};

onEachDaemon("planted links", cases);
