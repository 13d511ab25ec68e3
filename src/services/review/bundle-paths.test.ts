import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ReviewRepository } from "../../ports/review.ts";
import { expectBundleRefused } from "./bundle.fixture.ts";
import { openReviews } from "./index.ts";
import { CraftedPack, Scene } from "./review.fixture.ts";

let scene: Scene;
let box: string;
let review: ReviewRepository;

beforeEach(async () => {
  scene = new Scene();
  const project = scene.project({ "a.txt": "one\n", "sub/b.txt": "two\n" });
  box = scene.clone(project);
  const baseCommit = scene.head(project);
  review = await openReviews().create({ dir: scene.fresh("review"), borrow: project, baseCommit });
});
afterEach(() => scene[Symbol.dispose]());

const expectRefused = (file: string, sentence: RegExp): Promise<void> =>
  expectBundleRefused({ scene, box, review }, file, sentence);

describe("a path", () => {
  const ofName = (name: string | Uint8Array, mode = "100644"): string => {
    const pack = new CraftedPack();
    const blob = mode.startsWith("4") ? pack.tree(["100644", "config", pack.blob("x")]) : pack.blob("x");
    return scene.ofTree(pack, pack.tree([mode, name, blob]));
  };

  it.each([
    ".git",
    ".GIT",
    ".Git",
    "git~1",
    "GIT~1",
    ".git ",
    ".git.",
    ".git . .",
    ".git::$INDEX_ALLOCATION",
    ".g\u200cit",
    ".git\\config",
    "a\\.git\\x",
    "..",
    ".",
    "",
    "a/b",
    "/etc/passwd",
    "../x",
  ])("called %j is refused, as a file and as a directory", async (name) => {
    await expectRefused(ofName(name), /was not taken/);
    await expectRefused(ofName(name, "40000"), /was not taken/);
  });

  it.each([
    "-rf",
    "a b",
    "line\nfeed",
    'quo"te',
    "tab\t",
    "back\\slash",
    ".gitignore",
    "git",
    "~",
    "ünï",
    "\u001b[31m",
  ])("called %j is taken and read", async (name) => {
    const { commit } = await review.take(ofName(name), 1);
    const changes = await review.changes(review.base, commit);
    expect(changes).toContainEqual(expect.objectContaining({ path: name, kind: "added", bytes: 1 }));
    expect(Buffer.from((await review.fileAt(commit, name, 10))!).toString()).toBe("x");
    expect(await text(review.patch(review.base, commit, { paths: [name] }))).toContain("+x");
  });

  it("that is no text is taken, and its bytes are kept", async () => {
    const { commit } = await review.take(ofName(Buffer.from([0x66, 0xff, 0xfe, 0x0a])), 1);
    const [change] = (await review.changes(review.base, commit)).filter(({ kind }) => kind === "added");
    expect(change).toMatchObject({ path: "f\uFFFD\uFFFD\n", rawPath: "66fffe0a", added: 1 });
    expect(await text(review.patch(review.base, commit))).toContain(String.raw`"b/f\377\376\n"`);
  });

  it("that differs from another only in case is taken", async () => {
    const pack = new CraftedPack();
    const tree = pack.tree(["100644", "README", pack.blob("1")], ["100644", "readme", pack.blob("2")]);
    const { commit } = await review.take(scene.ofTree(pack, tree), 1);
    expect((await review.changes(review.base, commit)).filter(({ kind }) => kind === "added")).toHaveLength(
      2,
    );
  });

  it("that is there twice, or out of order, is refused", async () => {
    const twice = new CraftedPack();
    const id = twice.blob("x");
    await expectRefused(
      scene.ofTree(twice, twice.tree(["100644", "a", id], ["100644", "a", id])),
      /duplicate/i,
    );
    const unsorted = new CraftedPack();
    const other = unsorted.blob("x");
    const tree = unsorted.tree(["100644", "b", other], ["100644", "a", other]);
    await expectRefused(scene.ofTree(unsorted, tree), /sorted/i);
  });

  it("a thousand directories deep is taken; deeper than any git can go is refused", async () => {
    const nested = (depth: number): string => {
      const pack = new CraftedPack();
      let tree = pack.tree(["100644", "f", pack.blob("deep\n")]);
      for (let i = 0; i < depth; i++) tree = pack.tree(["40000", "d", tree]);
      return scene.ofTree(pack, tree);
    };
    const { commit } = await review.take(nested(1_000), 1);
    const path = `${"d/".repeat(1_000)}f`;
    expect(await review.changes(review.base, commit)).toContainEqual(
      expect.objectContaining({ path, added: 1 }),
    );
    expect(Buffer.from((await review.fileAt(commit, path, 100))!).toString()).toBe("deep\n");
    await expectRefused(nested(2_500), /nested too deeply/);
    await expectRefused(nested(100_000), /was not taken/);
    await expect(review.totals(review.base, commit)).resolves.toBeDefined();
  });

  it("of a submodule or .gitmodules that would run something is refused", async () => {
    const gitmodules = (url: string): string => {
      const pack = new CraftedPack();
      const blob = pack.blob(`[submodule "x"]\n\tpath = x\n\turl = ${url}\n`);
      return scene.ofTree(pack, pack.tree(["100644", ".gitmodules", blob]));
    };
    await expect(review.take(gitmodules("https://example.com/x.git"), 1)).resolves.toBeDefined();
    await expectRefused(gitmodules("--upload-pack=touch"), /gitmodules/i);
    const pack = new CraftedPack();
    await expectRefused(
      scene.ofTree(pack, pack.tree(["120000", ".gitmodules", pack.blob("/etc")])),
      /gitmodules/i,
    );
  });

  it("of a link is only data, wherever it leads", async () => {
    mkdirSync(join(scene.dir, "outside"));
    writeFileSync(join(scene.dir, "outside/secret"), "secret");
    const pack = new CraftedPack();
    const target = join(scene.dir, "outside/secret");
    const tree = pack.tree(["120000", "link", pack.blob(target)]);
    const { commit } = await review.take(scene.ofTree(pack, tree), 1);
    expect(Buffer.from((await review.fileAt(commit, "link", 1_000))!).toString()).toBe(target);
    expect(await review.fileAt(commit, "link/secret", 1_000)).toBeUndefined();
  });
});

async function text(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let all = "";
  for await (const chunk of chunks) all += Buffer.from(chunk).toString("latin1");
  return Buffer.from(all, "latin1").toString();
}
