/** The part of a source's history that comes into a clone: all that was given, and nothing else. */
import { randomBytes } from "node:crypto";
import { readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { run } from "../../host/run.ts";
import { type Ground, makeGround } from "./workspace.fixture.ts";

let ground: Ground;
beforeEach(async () => {
  ground = await makeGround();
  await ground.put("a.txt", "one\n");
  ground.commitAll("first");
});
afterEach(() => ground.remove());

const has = (target: string, oid: string): boolean => {
  try {
    ground.plain(["cat-file", "-e", oid], { cwd: target });
    return true;
  } catch {
    return false;
  }
};

it("leaves behind what no branch or tag leads to, packed or loose", async () => {
  const { plain, put, commitAll, prepare, source } = ground;
  const dropped: string[] = [];
  for (const isPacked of [true, false]) {
    await put("secret.txt", `key of ${isPacked}\n`);
    commitAll("a mistake");
    dropped.push(plain(["rev-parse", "HEAD"]).trim(), plain(["rev-parse", "HEAD:secret.txt"]).trim());
    if (isPacked) plain(["repack", "-adq"]);
    plain(["reset", "-q", "--hard", "HEAD~1"]);
  }
  await put("a.txt", "stashed\n");
  plain(["stash", "-q"]);
  dropped.push(plain(["rev-parse", "stash@{0}"]).trim());
  plain(["update-ref", "refs/remotes/far/topic", dropped[0]!]);
  const { target } = await prepare();
  for (const oid of dropped) {
    // The control: the source has it still.
    expect(has(source, oid)).toBe(true);
    expect(has(target, oid)).toBe(false);
  }
  expect(plain(["rev-list", "--all", "--objects"], { cwd: target }).trim().split("\n")).toHaveLength(3);
});

it("copies a large pack as it is, but only one that holds nothing else", async () => {
  const { plain, put, commitAll, prepare, source } = ground;
  await put("large.bin", randomBytes(17 << 20));
  commitAll("large");
  plain(["repack", "-adq"]);
  const packs = async (top: string) =>
    (await readdir(join(top, ".git/objects/pack"))).filter((name) => name.endsWith(".pack"));
  const [large] = await packs(source);
  await put("later.txt", "loose\n");
  commitAll("later");
  // The control: nothing is unreachable, so the pack comes along with a small one beside it.
  const exact = await prepare();
  expect(await packs(exact.target)).toHaveLength(2);
  expect(await packs(exact.target)).toContain(large);
  expect((await stat(join(exact.target, ".git/objects/pack", large!))).nlink).toBe(1);
  expect(plain(["fsck", "--full"], { cwd: exact.target })).toBe("");

  await put("secret.txt", "key\n");
  commitAll("a mistake");
  const dropped = plain(["rev-parse", "HEAD:secret.txt"]).trim();
  plain(["repack", "-adq"]);
  plain(["reset", "-q", "--hard", "HEAD~1"]);
  const fewer = await prepare();
  // With more on top, the number of objects alone would not tell.
  for (let i = 0; i < 4; i++) {
    await put("more.txt", `${i}\n`);
    commitAll("more");
  }
  const more = await prepare();
  for (const { target } of [fewer, more]) {
    expect(has(source, dropped)).toBe(true);
    expect(has(target, dropped)).toBe(false);
    expect(plain(["fsck", "--full"], { cwd: target })).toBe("");
    expect(plain(["status", "--porcelain"], { cwd: target })).toBe("");
  }
});

it("copies the pack of a clone that has remote branches, which are no branches of the box", async () => {
  const { plain, put, commitAll, prepare, source } = ground;
  await put("large.bin", randomBytes(17 << 20));
  commitAll("large");
  plain(["checkout", "-qb", "theirs"]);
  await put("theirs.txt", "on the server\n");
  commitAll("theirs");
  const theirs = plain(["rev-parse", "HEAD"]).trim();
  plain(["checkout", "-q", "main"]);
  plain(["branch", "-qD", "theirs"]);
  plain(["update-ref", "refs/remotes/origin/theirs", theirs]);
  plain(["update-ref", "refs/remotes/origin/main", "HEAD"]);
  plain(["repack", "-adq"]);
  const packs = async (top: string) =>
    (await readdir(join(top, ".git/objects/pack"))).filter((name) => name.endsWith(".pack"));
  const { target } = await prepare();
  expect(await packs(target)).toEqual(await packs(source));
  expect(plain(["for-each-ref", "--format=%(refname)", "--contains", theirs], { cwd: target })).toBe("");

  // Commits that only a reflog leads to are still not given.
  await put("secret.txt", "key\n");
  commitAll("a mistake");
  const dropped = plain(["rev-parse", "HEAD"]).trim();
  plain(["repack", "-adq"]);
  plain(["reset", "-q", "--hard", "HEAD~1"]);
  const fewer = await prepare();
  expect(has(source, dropped)).toBe(true);
  for (const oid of [dropped, theirs]) expect(has(fewer.target, oid)).toBe(false);

  // A remote branch that leads nowhere is no reason to make no clone.
  await writeFile(join(source, ".git/refs/remotes/origin/gone"), `${"1".repeat(40)}\n`);
  expect(plain(["status", "--porcelain"], { cwd: (await prepare()).target })).toBe("");
});

it("keeps the history whole: merges, annotated tags, many packs, and refs with any bytes", async () => {
  const { plain, put, commitAll, prepare, source } = ground;
  plain(["repack", "-adq"]);
  plain(["checkout", "-qb", "topic"]);
  await put("topic.txt", "x\n");
  commitAll("topic");
  plain(["repack", "-dq"]);
  plain(["checkout", "-q", "main"]);
  await put("main.txt", "x\n");
  commitAll("main");
  plain(["merge", "-q", "--no-edit", "topic"]);
  plain(["tag", "-a", "v1", "-m", "the first"]);
  plain(["tag", "of-a-blob", "HEAD:main.txt"]);
  const head = plain(["rev-parse", "HEAD"]).trim();
  const raw = Buffer.concat([
    Buffer.from("create refs/heads/caf"),
    Buffer.from([0xe9]),
    Buffer.from(` ${head}\n`),
  ]);
  plain(["update-ref", "--stdin"], { input: raw });
  const { target, baseCommit } = await prepare();
  expect(baseCommit).toBe(head);
  expect(plain(["fsck", "--strict", "--full"], { cwd: target })).toBe("");
  const all = (cwd: string) => plain(["rev-list", "--objects", "--all"], { cwd }).split("\n").sort();
  expect(all(target)).toEqual(all(source));
  expect(plain(["cat-file", "-t", "v1"], { cwd: target }).trim()).toBe("tag");
  const packed = await readFile(join(target, ".git/packed-refs"), "latin1");
  expect(packed).toContain("refs/remotes/origin/caf\u00e9");
});

it("shares no file, and names no place, of the source", async () => {
  const { plain, prepare, dir } = ground;
  plain(["gc", "-q"]);
  const { target } = await prepare();
  expect((await run(["find", target, "-type", "f", "-links", "+1"])).stdout).toBe("");
  expect((await run(["grep", "-rla", dir, target])).stdout).toBe("");
  expect(await readdir(join(target, ".git/objects/info"))).toEqual([]);
  await rm(ground.source, { recursive: true });
  expect(plain(["status", "--porcelain"], { cwd: target })).toBe("");
  expect(plain(["fsck"], { cwd: target })).toBe("");
});

it("takes a source whose path holds the characters that part and quote paths", async () => {
  const { plain, dir, prepare, source } = ground;
  const odd = join(dir, 'a:b "c" \\d\ne');
  plain(["clone", "-q", source, odd], { cwd: dir });
  const { target, baseCommit } = await prepare({ source: odd });
  expect(baseCommit).toBe(plain(["rev-parse", "HEAD"]).trim());
  expect(plain(["fsck"], { cwd: target })).toBe("");
});

it("ends where a shallow source ends, and forgets ends that are not its own", async () => {
  const { plain, put, commitAll, prepare, dir, source } = ground;
  for (const text of ["two\n", "three\n"]) {
    await put("a.txt", text);
    commitAll(text);
  }
  plain(["branch", "side", "HEAD~1"]);
  const shallow = join(dir, "shallow");
  plain(["clone", "-q", "--depth=1", "--no-single-branch", `file://${source}`, shallow], { cwd: dir });
  const ends = (await readFile(join(shallow, ".git/shallow"), "utf8")).trim().split("\n");
  expect(ends.length).toBe(2);
  const { target } = await prepare({ source: shallow });
  expect((await readFile(join(target, ".git/shallow"), "utf8")).trim()).toBe(
    plain(["rev-parse", "HEAD"]).trim(),
  );
  expect(plain(["rev-list", "--count", "--all"], { cwd: target }).trim()).toBe("1");
  expect(plain(["fsck"], { cwd: target })).toBe("");
});

it("does not believe grafts and replacements, and stops at missing objects with a coded error", async () => {
  const { plain, put, commitAll, prepare, source } = ground;
  await put("a.txt", "two\n");
  commitAll("second");
  const [head, parent] = [plain(["rev-parse", "HEAD"]).trim(), plain(["rev-parse", "HEAD~1"]).trim()];
  plain(["replace", "--graft", head]);
  await writeFile(join(source, ".git/info/grafts"), `${head}\n`);
  const { target } = await prepare();
  expect(plain(["rev-list", "HEAD"], { cwd: target }).trim().split("\n")).toEqual([head, parent]);
  const blob = plain(["rev-parse", `${parent}:a.txt`]).trim();
  await rm(join(source, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  await expect(prepare()).rejects.toMatchObject({ code: "workspace.failed" });
});

it("leaves submodules as links with their addresses, and LFS files as pointers", async () => {
  const { plain, put, commitAll, prepare, dir, source } = ground;
  plain(["clone", "-q", source, join(dir, "library")], { cwd: dir });
  plain(["submodule", "add", "-q", join(dir, "library"), "lib"]);
  plain(["config", "-f", ".gitmodules", "submodule.lib.url", "https://example.com/library.git"]);
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`;
  await put(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
  await put("big.bin", pointer);
  commitAll("more");
  const { target, leftBehind, emptySubmodules } = await prepare({ carry: "dirty" });
  expect(leftBehind).toBe(0);
  expect(emptySubmodules).toEqual(["lib"]);
  expect(plain(["ls-files", "-s", "lib"], { cwd: target })).toMatch(/^160000 /);
  expect(await readdir(join(target, "lib"))).toEqual([]);
  expect(await readFile(join(target, ".gitmodules"), "utf8")).toContain("https://example.com/library.git");
  expect(await readFile(join(target, ".git/config"), "utf8")).not.toContain("submodule");
  await expect(stat(join(target, ".git/modules"))).rejects.toMatchObject({ code: "ENOENT" });
  expect(await readFile(join(target, "big.bin"), "utf8")).toBe(pointer);
  // A submodule is a source of its own as well.
  const own = await prepare({ source: join(source, "lib") });
  expect(own.baseCommit).toBe(plain(["rev-parse", "HEAD"], { cwd: join(source, "lib") }).trim());
  expect(own.emptySubmodules).toEqual([]);
});

it.each([
  {
    what: "names what is no submodule",
    text: '[submodule "a"]\n\tpath = a.txt\n[submodule "b"]\n\tpath = :(top)*\n',
  },
  { what: "cannot be read", text: "[submodule\n" },
  {
    what: "is too long for a command line",
    text: `[submodule "x"]\n${"\tpath = x/y/z/x/y/z/x/y/z/x/y/z\n".repeat(50_000)}`,
  },
])("finds no submodules in a list that $what", async ({ text }) => {
  await ground.put(".gitmodules", text);
  ground.commitAll("more");
  expect((await ground.prepare()).emptySubmodules).toEqual([]);
});
