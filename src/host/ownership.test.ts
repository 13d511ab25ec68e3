import { chmod, chown, mkdir, mkdtemp, open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readHostEnv } from "./env.ts";
import { OrderFiles, ownershipProblem } from "./ownership.ts";
import { run } from "./run.ts";

const ada = { uid: 1_000, gid: 1_000, sudoUid: undefined };
const maxBytes = 1_000;

describe("whose order it is", () => {
  it.each([
    [1_000, 1_000, 0o644, false, undefined],
    [0, 0, 0o644, false, undefined],
    [0, 0, 0o664, false, undefined],
    [1_001, 1_000, 0o644, false, "belongs to user 1001"],
    [65_534, 65_534, 0o644, false, "belongs to user 65534"],
    [1_000, 1_000, 0o666, true, "can be written by everybody"],
    [0, 0, 0o646, false, "can be written by everybody"],
    [1_000, 100, 0o664, false, "can be written by group 100"],
    [1_000, 1_000, 0o664, true, undefined],
  ])("a file of %i:%i with mode %o, private group %s: %s", (uid, gid, mode, isPrivate, problem) =>
    expect(ownershipProblem({ uid, gid, mode }, ada, "file", isPrivate)).toBe(problem),
  );

  it("counts a sticky directory as nobody else's, and a file with that bit not", () => {
    const facts = { uid: 0, gid: 0, mode: 0o1777 };
    expect(ownershipProblem(facts, ada, "directory", false)).toBeUndefined();
    expect(ownershipProblem({ ...facts, mode: 0o777 }, ada, "directory", false)).toMatch(/everybody/);
    expect(ownershipProblem(facts, ada, "file", false)).toMatch(/everybody/);
  });

  it("counts what belongs to the caller of sudo for root, and for nobody else", () => {
    const facts = { uid: 1_000, gid: 1_000, mode: 0o644 };
    expect(ownershipProblem(facts, { uid: 0, gid: 0, sudoUid: 1_000 }, "file", false)).toBeUndefined();
    expect(ownershipProblem(facts, { uid: 0, gid: 0, sudoUid: undefined }, "file", false)).toBeDefined();
    expect(ownershipProblem(facts, { uid: 1_001, gid: 1_001, sudoUid: 1_000 }, "file", false)).toBeDefined();
  });
});

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "agentbox-orders-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const own = new OrderFiles(readHostEnv());

describe("reading", () => {
  it("gives an own file, and nothing where there is none", async () => {
    await writeFile(join(root, "file"), "mine");
    expect(await own.read(join(root, "file"), { maxBytes })).toBe("mine");
    expect(await own.read(join(root, "absent"), { maxBytes })).toBeUndefined();
    expect(await own.read(join(root, "file/below"), { maxBytes, followsLinks: true })).toBeUndefined();
  });

  it("opens nothing that is no file: to open a device may be to start it", async () => {
    const pipe = join(root, "pipe");
    await run(["mkfifo", pipe]);
    // A pipe shows it: a writer waits until a reader opens it.
    let isOpened = false;
    const writing = open(pipe, "w").then(async (file) => {
      isOpened = true;
      await file.close();
    });
    await own.requireOwn(pipe);
    expect(await own.read(pipe, { maxBytes })).toBeUndefined();
    await expect(own.read(pipe, { maxBytes, followsLinks: true })).rejects.toMatchObject({
      code: "file.failed",
    });
    await writeFile(join(root, "file"), "mine");
    expect(await own.read(join(root, "file"), { maxBytes })).toBe("mine");
    expect(isOpened).toBe(false);
    const reading = await open(pipe, "r");
    await writing;
    expect(isOpened, "the control").toBe(true);
    await reading.close();
  });

  it("refuses what others can write, the directory included, until a person names it", async () => {
    const file = join(root, "file");
    await writeFile(file, "mine");
    const trusting = new OrderFiles(readHostEnv(), async () => ({
      file: "config.toml",
      directories: ["/nowhere", root],
    }));
    const other = new OrderFiles(readHostEnv(), async () => ({
      file: "config.toml",
      directories: [`${root}-not`, root.slice(0, -1)],
    }));
    for (const [path, mode] of [
      [file, 0o666],
      [root, 0o777],
    ] as const) {
      await chmod(path, mode);
      await expect(own.read(file, { maxBytes })).rejects.toMatchObject({ code: "file.foreign" });
      await expect(own.requireOwn(file)).rejects.toMatchObject({ code: "file.foreign" });
      await expect(other.read(file, { maxBytes })).rejects.toMatchObject({
        code: "file.foreign",
        hint: expect.stringContaining("[trust] directories"),
      });
      expect(await trusting.read(file, { maxBytes })).toBe("mine");
      await chmod(path, 0o700);
    }
    expect(await own.read(file, { maxBytes })).toBe("mine");
  });

  it("takes no file, directory or link of another user", async (ctx) => {
    if (process.getuid?.() !== 0) ctx.skip("only root can give files away");
    const file = join(root, "file");
    await writeFile(file, "theirs");
    await chown(file, 1_001, 1_001);
    await expect(own.read(file, { maxBytes })).rejects.toMatchObject({
      message: expect.stringContaining("belongs to user 1001"),
    });
    await chown(file, 0, 0);
    expect(await own.read(file, { maxBytes })).toBe("theirs");
    await chown(root, 1_001, 1_001);
    await expect(own.read(file, { maxBytes })).rejects.toMatchObject({ code: "file.foreign" });
    await expect(own.requireOwn(root)).rejects.toMatchObject({ code: "file.foreign" });
  });

  it("follows links only where it should", async () => {
    await writeFile(join(root, "file"), "mine");
    await symlink("file", join(root, "link"));
    expect(await own.read(join(root, "link"), { maxBytes })).toBeUndefined();
    expect(await own.read(join(root, "link"), { maxBytes, followsLinks: true })).toBe("mine");
    await writeFile(join(root, "large"), "x".repeat(maxBytes + 1));
    await expect(own.read(join(root, "large"), { maxBytes })).rejects.toMatchObject({
      code: "input.too_large",
    });
  });

  it("judges the file that it reads, whatever is put into its place meanwhile", async () => {
    const [mine, theirs] = [join(root, "mine"), join(root, "theirs")];
    for (const directory of [mine, theirs]) await mkdir(directory);
    await writeFile(join(mine, "file"), "mine");
    await writeFile(join(theirs, "file"), "theirs");
    await chmod(join(theirs, "file"), 0o666);
    const swapped = join(root, "swapped");
    await symlink(mine, swapped);
    const ending = new AbortController();
    const swapping = (async () => {
      for (let round = 0; !ending.signal.aborted; round += 1) {
        await symlink(round % 2 === 0 ? theirs : mine, `${swapped}.next`);
        await rename(`${swapped}.next`, swapped);
      }
    })();
    const seen = new Set<string | undefined>();
    for (let round = 0; round < 1_000; round += 1)
      seen.add(
        await own.read(join(swapped, "file"), { maxBytes }).catch((error: { code: string }) => error.code),
      );
    ending.abort();
    await swapping;
    expect([...seen].filter((one) => one !== "mine" && one !== "file.foreign")).toEqual([]);
  });
});
