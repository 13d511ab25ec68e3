import { chmod, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MergeFixture } from "./merge.fixture.ts";

const text = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join("");
let f: MergeFixture;
beforeEach(async () => {
  f = await MergeFixture.create({ "a.txt": text, "bin.dat": Buffer.from([0, 1, 2]), "b.txt": `${text}b\n` });
});
afterEach(() => f.remove());

type Edit = (root: string) => unknown;

async function conflict(theirs: Edit, ours: Edit) {
  const request = await f.work(theirs);
  await ours(f.project);
  f.commit("meanwhile");
  await f.write({ "untracked.txt": "mine\n" });
  const before = await f.state();
  const planned = await f.merges.plan(request);
  expect(await f.merges.apply(request)).toEqual(planned);
  expect(await f.merges.apply({ ...request, mode: "commits" })).toEqual(planned);
  // Nothing is half-applied.
  expect(await f.state()).toEqual(before);
  if (planned.outcome !== "conflict") throw new Error(`Expected a conflict: ${JSON.stringify(planned)}`);
  return planned.conflicts;
}

it("the same lines, with both sides", async () => {
  const found = await conflict(
    (box) => f.write({ "a.txt": `theirs\n${text}` }, box),
    () => f.write({ "a.txt": `ours\n${text}` }),
  );
  expect(found).toEqual([
    {
      path: "a.txt",
      what: "Both have changed the same lines.",
      ours: `ours\n${text}`,
      theirs: `theirs\n${text}`,
    },
  ]);
});

it("long texts are cut", async () => {
  const long = "x".repeat(20_000);
  const found = await conflict(
    (box) => f.write({ "a.txt": `theirs ${long}` }, box),
    () => f.write({ "a.txt": `ours ${long}` }),
  );
  expect([found[0]!.ours!.length, found[0]!.theirs!.length]).toEqual([8192, 8192]);
});

it("changed and deleted", async () => {
  const found = await conflict(
    (box) => rm(join(box, "a.txt")),
    () => f.write({ "a.txt": `ours\n${text}` }),
  );
  expect(found).toEqual([
    { path: "a.txt", what: "One side has changed it, the other has deleted it.", ours: `ours\n${text}` },
  ]);
});

it("renamed by both, and renamed and deleted", async () => {
  const both = await conflict(
    (box) => rename(join(box, "a.txt"), join(box, "theirs.txt")),
    () => rename(join(f.project, "a.txt"), join(f.project, "ours.txt")),
  );
  expect(both.map(({ path }) => path).toSorted()).toEqual(["a.txt", "ours.txt", "theirs.txt"]);
  expect(both[0]!.what).toMatch(/renamed/);
  const deleted = await conflict(
    (box) => rename(join(box, "b.txt"), join(box, "theirs.txt")),
    () => rm(join(f.project, "b.txt")),
  );
  expect(deleted[0]!.what).toMatch(/renamed it, the other has deleted/);
});

it("binary files have no texts", async () => {
  const found = await conflict(
    (box) => f.write({ "bin.dat": Buffer.from([0, 1, 3]) }, box),
    () => f.write({ "bin.dat": Buffer.from([0, 1, 4]) }),
  );
  expect(found).toEqual([{ path: "bin.dat", what: "Both changed it, and it is not text." }]);
});

it("a file on one side, a directory or a link on the other", async () => {
  const directory = await conflict(
    (box) => f.write({ "new/x.txt": "x\n" }, box),
    () => f.write({ new: "a file\n" }),
  );
  expect(directory[0]!.what).toMatch(/directory on the other/);
  const link = await conflict(
    (box) => symlink("a.txt", join(box, "thing")),
    () => f.write({ thing: "a file\n" }),
  );
  expect(link.some(({ what }) => /different kind of file/.test(what))).toBe(true);
});

it("added by both with other modes", async () => {
  const found = await conflict(
    async (box) => {
      await f.write({ "run.sh": "same\n" }, box);
      await chmod(join(box, "run.sh"), 0o755);
    },
    () => f.write({ "run.sh": "same\n" }),
  );
  expect(found).toMatchObject([{ path: "run.sh", ours: "same\n", theirs: "same\n" }]);
});

it("a submodule that both have moved", async () => {
  const set = (root: string, digit: string) => {
    f.git(["update-index", "--add", "--cacheinfo", `160000,${digit.repeat(40)},module`], root);
    f.git(["commit", "-q", "-m", "module"], root);
  };
  set(f.project, "1");
  const request = await f.work((box) => set(box, "2"));
  set(f.project, "3");
  const outcome = await f.merges.apply({ ...request, commit: request.head });
  expect(outcome).toMatchObject({
    outcome: "conflict",
    conflicts: [
      {
        path: "module",
        what: expect.stringMatching("submodule"),
        ours: `commit ${"3".repeat(40)}`,
        theirs: `commit ${"2".repeat(40)}`,
      },
    ],
  });
});

it("attributes of the person's decide what is merged as text", async () => {
  await f.write({ ".gitattributes": "a.txt -merge\n" });
  f.commit("attributes");
  const found = await conflict(
    (box) => f.write({ "a.txt": `theirs\n${text}` }, box),
    () => f.write({ "a.txt": `${text}ours\n` }),
  );
  expect(found).toMatchObject([{ path: "a.txt" }]);
  // The control: without the attribute both changes go together.
  const other = await f.work((box) => f.write({ "b.txt": `theirs\n${text}b\n` }, box));
  await rm(join(f.project, "untracked.txt"));
  await f.write({ "b.txt": `${text}b\nours\n` });
  f.commit("meanwhile");
  expect(await f.merges.apply(other)).toMatchObject({ outcome: "merged" });
});
