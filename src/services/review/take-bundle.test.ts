import {
  appendFileSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ReviewRepository } from "../../ports/review.ts";
import { expectBundleRefused } from "./bundle.fixture.ts";
import { openReviews } from "./index.ts";
import type { ReviewLimits } from "./limits.ts";
import { CraftedPack, deltaSize, Scene } from "./review.fixture.ts";

let scene: Scene;
let project: string;
let box: string;
let review: ReviewRepository;

const reviewOf = (limits: Partial<ReviewLimits> = {}): Promise<ReviewRepository> =>
  openReviews({ limits }).create({
    dir: scene.fresh("review"),
    borrow: project,
    baseCommit: scene.head(project),
  });

beforeEach(async () => {
  scene = new Scene();
  project = scene.project({ "a.txt": "one\n", "sub/b.txt": "two\n" });
  box = scene.clone(project);
  review = await reviewOf();
});
afterEach(() => scene[Symbol.dispose]());

const expectRefused = (file: string, sentence: RegExp): Promise<void> =>
  expectBundleRefused({ scene, box, review }, file, sentence);

describe("a good bundle", () => {
  it("is taken with the agent's commits, and its objects are the repository's own then", async () => {
    scene.write(box, { "new.txt": "new\n" });
    const head = scene.commit(box, "work of the agent");
    scene.write(box, { "untracked.txt": "more\n" });
    const taken = await review.take(scene.snapshot(box, await review.have()), 1);
    expect(taken.head).toBe(head);
    expect(taken.bytes).toBeGreaterThan(0);
    expect(taken.tree).toBe(scene.git(box, ["rev-parse", `${taken.commit}^{tree}`]).trim());
    expect(await review.have()).toEqual(expect.arrayContaining([review.base, taken.commit]));
    expect((await review.changes(review.base, taken.commit)).map(({ path }) => path)).toEqual([
      "new.txt",
      "untracked.txt",
    ]);
    expect(await review.commits(review.base, taken.head)).toEqual([
      { id: head, author: "An Agent <agent@example.com>", subject: "work of the agent" },
    ]);
    expect(readdirSync(review.gitDir).filter((name) => name.startsWith("incoming"))).toEqual([]);
  });

  it("builds on earlier ones, which need not be sent again", async () => {
    scene.write(box, { "big.bin": Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 251)) });
    const first = await review.take(scene.snapshot(box, await review.have()), 1);
    scene.git(box, ["reset", "-q", "--soft", first.commit]);
    scene.write(box, { "small.txt": "small\n" });
    const file = scene.snapshot(box, await review.have());
    expect(statSync(file).size).toBeLessThan(2_000);
    const second = await review.take(file, 2);
    expect((await review.changes(first.commit, second.commit)).map(({ path }) => path)).toEqual([
      "small.txt",
    ]);
  });

  it("may leave out what the known history holds", async () => {
    scene.write(project, { "old.txt": "from long ago\n" });
    scene.commit(project, "adds");
    scene.git(project, ["rm", "-q", "old.txt"]);
    scene.commit(project, "removes");
    box = scene.clone(project);
    review = await reviewOf();
    // The tree is the one of an ancestor: a pack made with bitmaps does not hold it.
    const tree = scene.git(box, ["rev-parse", "HEAD~1^{tree}"]).trim();
    const pack = new CraftedPack();
    const commit = pack.commit(tree, review.base);
    const header = `# v2 git bundle\n-${review.base} work\n${commit} refs/agentbox/snapshot\n\n`;
    await expect(review.take(scene.crafted(pack, header), 1)).resolves.toMatchObject({ commit, tree });
  });

  it("may hold a file that is never whole in memory", async () => {
    const size = 64 << 20;
    scene.write(box, { "large.bin": Buffer.alloc(size, "large\n") });
    const { commit } = await review.take(scene.snapshot(box, await review.have()), 1);
    const [change] = await review.changes(review.base, commit);
    expect(change).toMatchObject({ path: "large.bin", isBinary: true, bytes: size });
    const { bytes, isWhole } = await review.blob(change!.newId, 6);
    expect([Buffer.from(bytes).toString(), isWhole]).toEqual(["large\n", false]);
  });

  it("may come from a sha256 repository", async () => {
    project = scene.project({ "a.txt": "one\n" }, "sha256");
    box = scene.clone(project);
    review = await reviewOf();
    scene.write(box, { "a.txt": "two\n" });
    const { commit } = await review.take(scene.snapshot(box, await review.have()), 1);
    expect(commit).toHaveLength(64);
    expect(await review.totals(review.base, commit)).toEqual({ files: 1, added: 1, deleted: 1 });
  });

  it("may come from a shallow repository", async () => {
    scene.write(project, { "a.txt": "two\n" });
    scene.commit(project, "second");
    const shallow = scene.fresh("shallow");
    scene.git(scene.dir, ["clone", "-q", "--depth=1", `file://${project}`, shallow]);
    project = shallow;
    review = await reviewOf();
    box = scene.fresh("box");
    scene.git(scene.dir, ["clone", "-q", "--depth=1", `file://${shallow}`, box]);
    scene.write(box, { "c.txt": "three\n" });
    const file = scene.snapshot(box, await review.have());
    await expect(review.take(file, 1)).resolves.toMatchObject({ head: review.base });
  });

  it("has what a box collected in pieces, up to the limit", async () => {
    scene.write(box, { "new.txt": "new\n" });
    const bytes = readFileSync(scene.snapshot(box, await review.have()));
    const incoming = await review.receive();
    await incoming.write(bytes.subarray(0, 100));
    await incoming.write(bytes.subarray(100));
    await incoming.close();
    await expect(review.take(incoming.file, 1)).resolves.toBeDefined();
    await incoming.discard();
    const small = await (await reviewOf({ maxBytes: 100 })).receive();
    await small.write(bytes.subarray(0, 100));
    await expect(small.write(bytes.subarray(0, 1))).rejects.toMatchObject({ code: "review.too_large" });
    await small.discard();
    expect(readdirSync(review.gitDir).filter((name) => name.startsWith("incoming"))).toEqual([]);
  });
});

describe("a bad bundle", () => {
  const goodBundle = async (): Promise<string> => {
    scene.write(box, { "new.txt": "new\n".repeat(1000) });
    return scene.snapshot(box, await review.have());
  };

  it("with extra references is refused", async () => {
    scene.write(box, { "x.txt": "x\n" });
    scene.commit(box, "x");
    scene.git(box, ["update-ref", "refs/agentbox/snapshot", "HEAD"]);
    const file = scene.fresh("bundle");
    scene.git(box, ["bundle", "create", "-q", file, "refs/agentbox/snapshot", "refs/heads/main"]);
    await expectRefused(file, /refs\/heads\/main/);
  });

  it("without the snapshot, or with two, or with an unknown header is refused", async () => {
    const pack = new CraftedPack();
    const id = pack.commit(pack.tree());
    const ref = `${id} refs/agentbox/snapshot\n`;
    for (const header of [
      "# v2 git bundle\n\n",
      `# v2 git bundle\n${ref}${ref}\n`,
      `# v4 git bundle\n${ref}\n`,
      `# v3 git bundle\n@filter=blob:none\n${ref}\n`,
      `# v3 git bundle\n@object-format=sha256\n${ref}\n`,
      `# v2 git bundle\n@object-format=sha1\n${ref}\n`,
      `# v2 git bundle\n--upload-pack=x\n${ref}\n`,
      `# v2 git bundle\n${ref}`,
      "",
    ]) {
      await expect(review.take(scene.crafted(pack, header), 1)).rejects.toMatchObject({
        code: "review.bad_bundle",
      });
    }
    await expect(review.take(scene.crafted(pack, `# v2 git bundle\n${ref}\n`), 1)).resolves.toBeDefined();
  });

  it("that is cut off is refused", async () => {
    const file = await goodBundle();
    truncateSync(file, statSync(file).size - 40);
    await expectRefused(file, /was not taken/);
  });

  it("with junk at its end is refused", async () => {
    const file = await goodBundle();
    appendFileSync(file, "junk");
    await expectRefused(file, /junk/);
  });

  it("with a corrupt object is refused", async () => {
    const file = await goodBundle();
    const bytes = readFileSync(file);
    const at = bytes.length - 60;
    bytes[at] = bytes[at]! ^ 0xff;
    writeFileSync(file, bytes);
    await expectRefused(file, /was not taken/);
  });

  it("that builds on a commit the host has not named is refused", async () => {
    const known = scene.commit(project, "a commit of the person");
    const pack = new CraftedPack();
    const commit = pack.commit(pack.tree(), known);
    const header = `# v2 git bundle\n-${known} x\n${commit} refs/agentbox/snapshot\n\n`;
    await expectRefused(scene.crafted(pack, header), /not known here/);
  });

  it("whose snapshot is a tag, a tree, a blob or not there is refused", async () => {
    const refuse = async (make: (pack: CraftedPack) => string, sentence: RegExp): Promise<void> => {
      const pack = new CraftedPack();
      const id = make(pack);
      const file = scene.crafted(pack, `# v2 git bundle\n${id} refs/agentbox/snapshot\n\n`);
      await expect(review.take(file, 1)).rejects.toMatchObject({
        code: "review.bad_bundle",
        message: expect.stringMatching(sentence) as string,
      });
    };
    await refuse((pack) => pack.blob("x"), /is a blob/);
    await refuse((pack) => pack.tree(), /is a tree/);
    await refuse((pack) => {
      const commit = pack.commit(pack.tree());
      const who = "An Agent <agent@example.com> 1700000000 +0000";
      return pack.add("tag", Buffer.from(`object ${commit}\ntype commit\ntag t\ntagger ${who}\n\nx\n`));
    }, /is a tag/);
    await refuse(() => "1".repeat(40), /was not taken/);
  });

  it("that lacks what it refers to is refused", async () => {
    const pack = new CraftedPack();
    await expectRefused(scene.ofTree(pack, pack.tree(["100644", "a", "2".repeat(40)])), /was not taken/);
  });

  it("that refers to an object of the project which the box was never given is refused", async () => {
    scene.write(project, { "secret.txt": "a stash of the person\n" });
    const secret = scene.git(project, ["hash-object", "-w", "secret.txt"]).trim();
    const pack = new CraftedPack();
    await expectRefused(scene.ofTree(pack, pack.tree(["100644", "a", secret])), new RegExp(secret));
    // As the base of a difference it comes into the pack, but it was not sent.
    const sly = new CraftedPack();
    sly.delta(secret, Buffer.from([...deltaSize(22), ...deltaSize(1), 1, 0x78]));
    await expectRefused(scene.ofTree(sly, sly.tree(["100644", "a", secret])), new RegExp(secret));
  });

  it("that is too large, has too many objects, or one that is too large is refused", async () => {
    const file = await goodBundle();
    await expect((await reviewOf({ maxBytes: 100 })).take(file, 1)).rejects.toMatchObject({
      code: "review.bad_bundle",
      message: expect.stringContaining("larger than 100 B") as string,
    });
    await expect((await reviewOf({ maxObjects: 2 })).take(file, 1)).rejects.toMatchObject({
      code: "review.bad_bundle",
      message: expect.stringContaining("more than 2 objects") as string,
    });
    await expect((await reviewOf({ maxBlobBytes: 3_999 })).take(file, 1)).rejects.toMatchObject({
      code: "review.bad_bundle",
      message: expect.stringContaining("is larger than 3.9 KiB") as string,
    });
    await expect((await reviewOf({ maxBlobBytes: 4_000 })).take(file, 1)).resolves.toBeDefined();
  });

  it("that takes too long is refused", async () => {
    const file = await goodBundle();
    await expect((await reviewOf({ takeTimeoutMs: 1 })).take(file, 1)).rejects.toMatchObject({
      code: "review.bad_bundle",
      message: expect.stringContaining("took too long") as string,
    });
  });

  it("whose objects unpack to more than memory holds is refused", async () => {
    const pack = new CraftedPack();
    const base = pack.blob(Buffer.alloc(1 << 20));
    // Each copy is 7 bytes and makes a megabyte: 64 GiB out of half a megabyte, which itself compresses to nothing.
    const copies = Array.from({ length: 65_536 }, () => [0xf0, 0, 0, 0x10]).flat();
    pack.delta(base, Buffer.from([...deltaSize(1 << 20), ...deltaSize(65_536 * 2 ** 20), ...copies]));
    const before = process.memoryUsage().rss;
    await expectRefused(scene.ofTree(pack, pack.tree(["100644", "a", base])), /was not taken/);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20);
  });

  it("whose differences build on each other in a circle is refused", async () => {
    const pack = new CraftedPack();
    pack.delta("3".repeat(40), Buffer.from([...deltaSize(1), ...deltaSize(1), 1, 0x78]));
    await expectRefused(scene.ofTree(pack, pack.tree()), /unresolved|was not taken/);
  });

  it("that is a link or not there is an error and no more", async () => {
    const link = scene.fresh("link");
    symlinkSync(await goodBundle(), link);
    await expect(review.take(link, 1)).rejects.toMatchObject({ code: "review.bad_bundle" });
    await expect(review.take(scene.fresh("none"), 1)).rejects.toMatchObject({ code: "review.bad_bundle" });
  });
});
