import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StreamInput, StreamOutput } from "../../contract/link/messages.ts";
import { collect, type Collected, FixtureBox, removeBuild } from "./box.fixture.ts";

let box: FixtureBox;
beforeAll(async () => {
  box = await FixtureBox.start();
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await removeBuild();
});

type Entry = Extract<StreamInput, { type: "entry" }>;
const file = (path: string, content: string, mode = 0o644) => ({
  path,
  kind: "file" as const,
  mode,
  content,
});
const dir = (path: string, mode = 0o755) => ({ path, kind: "dir" as const, mode, content: "" });
const link = (path: string, target: string) => ({
  path,
  kind: "symlink" as const,
  mode: 0o777,
  content: "",
  target,
});

const read = async (path: string): Promise<Collected> =>
  collect(await box.open({ kind: "files.read", path }));
const entriesOf = ({ messages }: Collected) =>
  messages.filter((message): message is Extract<StreamOutput, { type: "entry" }> => message.type === "entry");

async function write(
  path: string,
  entries: (Omit<Entry, "type" | "size"> & { content: string })[],
): Promise<Collected> {
  const stream = await box.open({ kind: "files.write", path });
  const all = collect(stream);
  for (const { content, ...entry } of entries) {
    stream.send({ type: "entry", ...entry, size: Buffer.byteLength(content) });
    if (content) stream.write(Buffer.from(content));
  }
  stream.send({ type: "end" });
  return all;
}

test("a file comes out with its base name, a tree sorted, links as links, pipes not at all", async () => {
  const root = join(box.workspace, "out");
  await mkdir(join(root, "sub"), { recursive: true });
  await writeFile(join(root, "b.txt"), "bee");
  await writeFile(join(root, "sub", "run"), "x");
  await chmod(join(root, "sub", "run"), 0o755);
  await symlink("/etc/passwd", join(root, "a-link"));
  execFileSync("mkfifo", [join(root, "pipe")]);

  const one = await read("out/b.txt");
  expect(entriesOf(one)).toEqual([{ type: "entry", path: "b.txt", kind: "file", mode: 0o644, size: 3 }]);
  expect(one).toMatchObject({ stdout: "bee", last: { type: "end", entries: 1, bytes: 3 } });

  const tree = await read(root);
  expect(entriesOf(tree).map(({ path, kind }) => [path, kind])).toEqual([
    ["", "dir"],
    ["a-link", "symlink"],
    ["b.txt", "file"],
    ["sub", "dir"],
    ["sub/run", "file"],
  ]);
  expect(entriesOf(tree)[1]).toMatchObject({ target: "/etc/passwd" });
  expect(tree.stdout).toBe("beex");
  expect(entriesOf(await read("out/a-link"))).toEqual([
    { type: "entry", path: "a-link", kind: "symlink", mode: 0o777, size: 0, target: "/etc/passwd" },
  ]);
  expect((await read("out/nothing")).last).toMatchObject({
    type: "failed",
    code: "file.not_found",
    message: "There is no file or directory out/nothing in the box.",
  });
});

test("a file that grows while it is read is not passed off as whole", async () => {
  const path = join(box.workspace, "growing");
  await writeFile(path, Buffer.alloc(24 << 20));
  const stream = await box.open({ kind: "files.read", path });
  const all = collect(stream);
  stream.pause();
  await writeFile(path, Buffer.alloc(1 << 20), { flag: "a" });
  stream.resume();
  const result = await all;
  expect(["failed", "end"]).toContain(result.last?.type);
  // Either it was opened after the change, and then it is whole, or the change is reported.
  const [entry] = entriesOf(result);
  if (result.last?.type === "end") expect(entry!.size).toBe(25 << 20);
  else expect(result.last).toMatchObject({ code: "file.failed" });
});

test("files go in with the names that cp would give them", async () => {
  expect((await write("new.txt", [file("whatever.txt", "hello", 0o755)])).last).toEqual({
    type: "end",
    entries: 1,
    bytes: 5,
  });
  expect(await readFile(join(box.workspace, "new.txt"), "utf8")).toBe("hello");
  expect((await lstat(join(box.workspace, "new.txt"))).mode & 0o777).toBe(0o755);

  const tree = [dir("", 0o700), dir("ro", 0o555), file("ro/in.txt", "in"), link("up", "../x")];
  expect((await write("tree", tree)).last).toMatchObject({ type: "end", entries: 4 });
  expect((await lstat(join(box.workspace, "tree/ro"))).mode & 0o777).toBe(0o555);
  expect(await readFile(join(box.workspace, "tree/ro/in.txt"), "utf8")).toBe("in");
  expect(await readlink(join(box.workspace, "tree/up"))).toBe("../x");

  const named = [dir("source"), file("source/in.txt", "in")];
  expect((await write("renamed", named)).last).toMatchObject({ type: "end", entries: 2 });
  expect(await readFile(join(box.workspace, "renamed/in.txt"), "utf8")).toBe("in");
  expect((await write("renamed", named)).last).toMatchObject({ type: "end", entries: 2 });
  expect(await readFile(join(box.workspace, "renamed/source/in.txt"), "utf8")).toBe("in");
  expect((await write("other", [dir("source"), file("elsewhere/in.txt", "in")])).last).toMatchObject({
    code: "file.failed",
  });

  expect((await write("tree", [file("beside.txt", "b")])).last).toMatchObject({ type: "end" });
  expect(await readFile(join(box.workspace, "tree/beside.txt"), "utf8")).toBe("b");
  expect((await write("no/such/place.txt", [file("a", "a")])).last).toMatchObject({ code: "file.not_found" });
  expect((await write("tree", [file("ro", "a")])).last).toMatchObject({ code: "file.exists" });
});

test("an entry that names a place outside is refused, and nothing is written", async () => {
  await mkdir(join(box.workspace, "hostile"));
  expect((await write("hostile", [file("good", "x")])).last).toMatchObject({ type: "end" });
  for (const path of ["../evil", "/tmp/evil", "a/../../evil", "a//b", "./a", "..", "a\0b", ""]) {
    expect((await write("hostile", [file(path, "x")])).last).toMatchObject({
      type: "failed",
      code: "file.unsafe_path",
    });
  }
  expect(await readdir(join(box.workspace, "hostile"))).toEqual(["good"]);
});

test("nothing is written through a link, planted before or sent along", async () => {
  const outside = join(box.dir, "outside");
  await mkdir(outside);
  await writeFile(join(outside, "precious"), "old");
  const target = join(box.workspace, "planted");
  await mkdir(target);
  await symlink(outside, join(target, "dir"));
  await symlink(join(outside, "precious"), join(target, "file"));

  expect((await write("planted", [file("dir/new", "x")])).last).toMatchObject({ code: "file.unsafe_path" });
  expect((await write("planted", [dir("dir")])).last).toMatchObject({ code: "file.unsafe_path" });
  expect((await write("planted", [link("sent", outside), file("sent/new", "x")])).last).toMatchObject({
    code: "file.unsafe_path",
  });
  expect((await write("planted", [file("file", "new")])).last).toMatchObject({ type: "end" });
  expect(await readFile(join(outside, "precious"), "utf8")).toBe("old");
  expect(await readFile(join(target, "file"), "utf8")).toBe("new");
  expect(await readdir(outside)).toEqual(["precious"]);
});

test("a copy that breaks off leaves no half file", async () => {
  await mkdir(join(box.workspace, "broken"));
  const stream = await box.open({ kind: "files.write", path: "broken" });
  const all = collect(stream);
  stream.send({ type: "entry", path: "half", kind: "file", mode: 0o644, size: 10 });
  stream.write(Buffer.from("12345"));
  stream.send({ type: "end" });
  expect((await all).last).toMatchObject({ type: "failed", code: "file.failed" });
  expect(await readdir(join(box.workspace, "broken"))).toEqual([]);
});

test("a large tree goes in and comes out the same", async () => {
  const content = "0123456789abcdef".repeat(200_000);
  expect((await write("large.bin", [file("f", content)])).last).toMatchObject({ bytes: content.length });
  expect((await read("large.bin")).stdout === content).toBe(true);
});
