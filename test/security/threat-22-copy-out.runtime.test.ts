/**
 * Threat 22: a copy that leaves its destination. The box offers every kind of hostile tree, and swaps directories for
 * links while it is being read; the host offers links of its own. Nothing outside is written or read.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { chownTree, emptyBox, eventsOf, type Ground, inBox, onEachDaemon, shellInBox } from "./attack.ts";

/** Every path below a directory; links are named, never followed. */
const treeOf = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

const cases = (ground: Ground): void => {
  let outside: string;
  let victim: string;
  let destination: string;

  /** A directory with a secret, and beside it the one that copies go to. All writable for who copies. */
  beforeEach(() => {
    outside = mkdtempSync(join(ground.daemon.scratch, "host-"));
    victim = join(outside, "victim");
    destination = join(outside, "destination");
    for (const path of [victim, destination]) mkdirSync(path);
    writeFileSync(join(victim, "secret"), "host secret");
    if (!ground.isRootDaemon && process.getuid?.() === 0) chownTree(outside, ordinaryUser);
  });
  afterEach(() => {
    // Whatever a case did: the host's file is what it was, and nothing has appeared beside the destination.
    expect(readFileSync(join(victim, "secret"), "utf8")).toBe("host secret");
    expect(treeOf(victim)).toEqual([join(victim, "secret")]);
    expect(readdirSync(outside).toSorted()).toEqual(["destination", "victim"]);
    rmSync(outside, { recursive: true });
  });

  const copyOut = (path: string) => ground.daemon.cli(["cp", `copy-box:${path}`, destination]);

  it("brings an ordinary tree out, with its links inside, and records it", async () => {
    const { daemon } = ground;
    await shellInBox(
      daemon,
      "copy-box",
      "mkdir -p good/deep && echo one > good/deep/file && ln -s deep/file good/link",
    );
    expect(await copyOut("good")).toMatchObject({ code: 0 });
    expect(readFileSync(join(destination, "good/deep/file"), "utf8")).toBe("one\n");
    expect(readlinkSync(join(destination, "good/link"))).toBe("deep/file");
    const event = await waitFor("the copy is recorded", async () =>
      (await eventsOf(daemon, "files.copied", "copy-box")).find(({ data }) => data["op"] === "read"),
    );
    expect(event.data).toMatchObject({ path: "/workspace/good" });
  });

  it("leaves behind links that lead out, pipes, sockets and the bits that give power", async () => {
    const { daemon } = ground;
    const { code, stderr } = await shellInBox(
      daemon,
      "copy-box",
      `mkdir -p bad/sub && cd bad && echo fine > fine
       ln -s ${victim}/secret absolute; ln -s ../victim/secret relative; ln -s ../../victim sub/up; ln -s / root
       ln -s sub/../../victim sneaky; ln -s . self; ln -s /proc/self/root/etc proc
       mkfifo pipe; cp /usr/bin/id powerful; chmod 755 powerful; chmod 777 sub; ln fine hard
       printf x > "$(printf 'esc\\033[31mape')"; ln -s /etc/passwd "$(printf 'title\\033]0;owned\\007')"
       node -e 'const s = require("net").createServer().listen("socket", () => process.exit(0))'; ls socket 2>/dev/null; true`,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    // A box may not set these bits itself; they are put there from outside, as if it could.
    const { paths } = await daemon.client.getBox("copy-box");
    chmodSync(join(paths.workspace, "bad/powerful"), 0o6755);
    chmodSync(join(paths.workspace, "bad/sub"), 0o2777);
    const result = await copyOut("bad");
    expect(result.code).toBe(0);
    const bad = join(destination, "bad");
    // The control: what is harmless has arrived, beside what was refused.
    expect(readFileSync(join(bad, "fine"), "utf8")).toBe("fine\n");
    expect(readFileSync(join(bad, "hard"), "utf8")).toBe("fine\n");
    expect(lstatSync(join(bad, "hard")).nlink).toBe(1);
    for (const name of ["absolute", "relative", "sub/up", "root", "sneaky", "proc", "pipe"])
      expect(existsSync(join(bad, name)), name).toBe(false);
    for (const path of treeOf(bad)) {
      const found = lstatSync(path);
      expect(found.mode & 0o6000, path).toBe(0);
      expect(found.isFile() || found.isDirectory() || found.isSymbolicLink(), path).toBe(true);
      if (found.isSymbolicLink())
        expect(resolve(path, "..", readlinkSync(path)).startsWith(bad), path).toBe(true);
    }
    // Leftovers are named, in text that no terminal obeys.
    expect(result.stderr + result.stdout).toContain("absolute");
    expect(result.stderr + result.stdout).not.toMatch(/[\u001b\u0007]/);
  });

  it("writes through no link that an earlier copy, or somebody else, has left", async () => {
    const { daemon } = ground;
    await shellInBox(daemon, "copy-box", "mkdir -p again && echo fresh > again/secret");
    // Control: without the link, the same copy goes through.
    expect(await copyOut("again")).toMatchObject({ code: 0 });
    expect(readFileSync(join(destination, "again/secret"), "utf8")).toBe("fresh\n");
    rmSync(join(destination, "again"), { recursive: true });
    symlinkSync(victim, join(destination, "again"));
    const through = await copyOut("again");
    expect(through.code).not.toBe(0);
    expect(through.stderr).toMatch(/error\[file\.(unsafe_path|exists)\]/);
    rmSync(join(destination, "again"));
    mkdirSync(join(destination, "again"), { mode: 0o777 });
    chmodSync(join(destination, "again"), 0o777);
    symlinkSync(join(victim, "secret"), join(destination, "again/secret"));
    // A link in place of a file is not written through: it is refused or replaced.
    await copyOut("again");
    expect(readFileSync(join(victim, "secret"), "utf8")).toBe("host secret");
  });

  it("survives directories that turn into links while they are read", async () => {
    const { daemon } = ground;
    await shellInBox(
      daemon,
      "copy-box",
      `mkdir -p race/real race/spare && for i in $(seq 60); do echo inside > race/real/f$i; done`,
    );
    const { argv, env } = daemon.command([
      "exec",
      "copy-box",
      "--no-stdin",
      "--timeout",
      "20s",
      "--",
      "sh",
      "-c",
      `while [ ! -e stop ]; do mv race/real race/kept; ln -s ${victim} race/real; rm race/real; ln -s / race/real; rm race/real; mv race/kept race/real; done`,
    ]);
    const swapping = runProgram(argv, { env, cwd: daemon.scratch });
    let copies = 0;
    for (let round = 0; round < 6; round++) {
      const { code } = await copyOut("race");
      if (code === 0) copies++;
      for (const path of treeOf(destination)) {
        const found = lstatSync(path);
        if (found.isFile()) expect(readFileSync(path, "utf8")).toBe("inside\n");
        if (found.isSymbolicLink()) expect(readlinkSync(path).startsWith("/")).toBe(false);
      }
      rmSync(join(destination, "race"), { recursive: true, force: true });
    }
    await shellInBox(daemon, "copy-box", "touch stop");
    expect((await swapping).code).toBe(0);
    // Not all of them were stopped by the race, or the test would have shown nothing.
    expect(copies).toBeGreaterThan(0);
  });

  it("is not led astray by names: dots, the root, the very long and the many", async () => {
    const { daemon } = ground;
    await shellInBox(
      daemon,
      "copy-box",
      `mkdir names && cd names && n=$(printf 'n%.0s' $(seq 255)) && echo long > $n && touch -- '-rf' '...' 'a b' "$(printf 'new\\nline')" '\\..\\x'
       d=deep; for i in $(seq 18); do mkdir -p "$d"; d="$d/$n"; done; mkdir -p deep/$n && echo end > deep/$n/end`,
    );
    const result = await copyOut("names");
    // A path that is too long is refused with a code; everything else arrives under its own name.
    if (result.code !== 0) expect(result.stderr).toMatch(/error\[[a-z_.]+\]/);
    for (const path of treeOf(destination)) expect(path.startsWith(`${destination}/names`)).toBe(true);
    for (const source of ["..", "/proc/self", "../../..", "names/../../etc/hostname"]) {
      const copy = await copyOut(source);
      if (copy.code !== 0) expect(copy.stderr).toMatch(/error\[[a-z_.]+\]/);
    }
  });

  it("copies a link of the host's in as a link, and what it points to not at all", async () => {
    const { daemon } = ground;
    const source = join(destination, "source");
    mkdirSync(source);
    writeFileSync(join(source, "plain"), "plain");
    symlinkSync(join(victim, "secret"), join(source, "link"));
    symlinkSync(victim, join(source, "dir"));
    await runProgram(["mkfifo", join(source, "pipe")]);
    if (!ground.isRootDaemon && process.getuid?.() === 0) chownTree(source, ordinaryUser);
    expect((await daemon.cli(["cp", source, "copy-box:/workspace/"])).code).toBe(0);
    const { stdout } = await shellInBox(
      daemon,
      "copy-box",
      "cat source/plain; echo; cat source/link source/dir/secret 2>&1; ls source",
    );
    expect(stdout).toMatch(/^plain\n/);
    expect(stdout).not.toContain("host secret");
    expect(stdout).not.toContain("pipe");
    // Into the box's own links: they lead into the box, wherever they point.
    await inBox(daemon, "copy-box", ["ln", "-sfn", victim, "/workspace/trap"]);
    await daemon.cli(["cp", join(source, "plain"), "copy-box:/workspace/trap/plain"]);
    await daemon.cli(["cp", join(source, "plain"), "copy-box:/workspace/trap"]);
    expect(existsSync(join(victim, "plain"))).toBe(false);
  });

  it("never makes a file with more rights than the person's own", async () => {
    const { daemon } = ground;
    await shellInBox(daemon, "copy-box", "mkdir -p mine && echo x > mine/file && chmod 777 mine/file");
    expect((await copyOut("mine")).code).toBe(0);
    const found = statSync(join(destination, "mine/file"));
    const owner = ground.isRootDaemon || process.getuid?.() !== 0 ? process.getuid?.() : ordinaryUser.uid;
    expect(found.uid).toBe(owner);
    expect(found.mode & 0o022).toBe(0);
  });
};

onEachDaemon("copying", cases, { prepare: (daemon) => emptyBox(daemon, "copy-box") });
