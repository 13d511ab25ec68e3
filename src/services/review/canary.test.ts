/** Threat 24: a project and a box can bring along programs that git would run; none of them runs here. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ReviewRepository } from "../../ports/review.ts";
import { openReviews } from "./index.ts";
import { Scene } from "./review.fixture.ts";

let scene: Scene;
let canary: ReturnType<Scene["canary"]>;

beforeEach(() => {
  scene = new Scene();
  canary = scene.canary();
});
afterEach(() => scene[Symbol.dispose]());

const hooks = [
  "reference-transaction",
  "post-checkout",
  "pre-commit",
  "post-index-change",
  "pre-receive",
  "update",
  "post-update",
  "pre-auto-gc",
];

const attributes = "* filter=evil diff=evil merge=evil text working-tree-encoding=UTF-8 ident\n";

/** Everything in a repository that makes git run something, on. */
function plant(dir: string): void {
  const { command } = canary;
  const gitDir = join(dir, ".git");
  mkdirSync(join(gitDir, "hooks"), { recursive: true });
  mkdirSync(join(gitDir, "other-hooks"), { recursive: true });
  mkdirSync(join(gitDir, "info"), { recursive: true });
  for (const name of hooks) {
    for (const folder of ["hooks", "other-hooks"]) {
      writeFileSync(join(gitDir, folder, name), `#!/bin/sh\nexec ${command} </dev/null\n`, { mode: 0o755 });
    }
  }
  writeFileSync(join(gitDir, "info/attributes"), attributes);
  writeFileSync(join(dir, ".gitattributes"), attributes);
  const settings = {
    "core.hooksPath": join(gitDir, "other-hooks"),
    "core.fsmonitor": command,
    "core.sshCommand": command,
    "core.pager": command,
    "core.editor": command,
    "core.alternateRefsCommand": command,
    "core.attributesFile": join(gitDir, "info/attributes"),
    "diff.external": command,
    "diff.evil.command": command,
    "diff.evil.textconv": command,
    "filter.evil.clean": command,
    "filter.evil.smudge": command,
    "filter.evil.process": command,
    "filter.evil.required": "true",
    "merge.evil.driver": command,
    "gpg.program": command,
    "log.showSignature": "true",
    "pager.log": command,
    "uploadpack.packObjectsHook": command,
    "credential.helper": command,
  };
  const sections = Object.entries(settings).map(([key, value]) => {
    const [section, ...rest] = key.split(".");
    const name = rest.pop()!;
    const heading = rest.length > 0 ? `[${section} "${rest.join(".")}"]` : `[${section}]`;
    return `${heading}\n\t${name} = ${value}\n`;
  });
  writeFileSync(join(gitDir, "config"), `[core]\n\trepositoryformatversion = 0\n${sections.join("")}`);
}

/** The control: plain git runs them. */
function runsCanary(dir: string, args: readonly string[]): boolean {
  canary.reset();
  try {
    scene.git(dir, args);
  } catch {
    // The output of a canary is not always what git has asked for.
  }
  return canary.hasRun();
}

/** Every method there is. */
async function callEverything(review: ReviewRepository, bundle: string): Promise<void> {
  const { commit, head } = await review.take(bundle, 1);
  const changes = await review.changes(review.base, commit);
  expect(changes.length).toBeGreaterThan(0);
  await review.totals(review.base, commit);
  for await (const _ of review.patch(review.base, commit, { isBinary: true })) continue;
  for (const { newId, kind } of changes) if (kind !== "deleted") await review.blob(newId, 1_000);
  await review.fileAt(commit, ".gitattributes", 1_000);
  await review.commits(review.base, head);
  for await (const _ of review.bundle(commit)) continue;
  await review.have();
}

it("nothing of a hostile project or of a hostile bundle runs", async () => {
  const project = scene.project({ "a.txt": "one\n" });
  const base = scene.head(project);
  const box = scene.clone(project);
  scene.write(box, {
    ".gitattributes": attributes,
    "a.txt": "two\n",
    ".git-hooks/pre-commit": "#!/bin/sh\n",
    ".githooks/post-merge": "#!/bin/sh\n",
  });
  scene.commit(box, "work");
  const review0 = await openReviews().create({
    dir: scene.fresh("review"),
    borrow: project,
    baseCommit: base,
  });
  const bundle = scene.snapshot(box, await review0.have());
  plant(project);
  // The control: with plain git the same repository runs it for nearly everything.
  for (const args of [
    ["status"],
    ["diff", "HEAD"],
    ["log", "-p", "--ext-diff"],
    ["add", "-A"],
    ["update-ref", "refs/x", "HEAD"],
  ]) {
    expect([args[0], runsCanary(project, args)]).toEqual([args[0], true]);
  }
  canary.reset();
  const review = await openReviews().create({
    dir: scene.fresh("review"),
    borrow: project,
    baseCommit: base,
  });
  await callEverything(review, bundle);
  await openReviews().open(review.gitDir);
  expect(canary.hasRun()).toBe(false);
});

it("nothing runs when a directory's files become the base, and repositories in it are only named", async () => {
  const files = scene.fresh("files");
  scene.write(files, { "a.txt": "one\n", ".gitattributes": attributes });
  const inside = join(files, "nested");
  scene.git(scene.dir, ["init", "-q", inside]);
  scene.write(inside, { "n.txt": "n\n" });
  scene.commit(inside, "nested");
  plant(inside);
  expect(runsCanary(inside, ["status"])).toBe(true);
  canary.reset();
  const review = await openReviews().create({ dir: scene.fresh("review"), files });
  expect(canary.hasRun()).toBe(false);
  expect(Buffer.from((await review.fileAt(review.base, "a.txt", 10))!).toString()).toBe("one\n");
  expect(await review.fileAt(review.base, "nested/n.txt", 10)).toBeUndefined();
});

it("replaced objects, grafts and attributes of the project do not change what is shown", async () => {
  const project = scene.project({ "a.txt": "one\n" });
  const base = scene.head(project);
  const box = scene.clone(project);
  scene.write(box, { "a.txt": "two\n" });
  const review = await openReviews().create({
    dir: scene.fresh("review"),
    borrow: project,
    baseCommit: base,
  });
  const { commit } = await review.take(scene.snapshot(box, await review.have()), 1);
  scene.write(project, { "a.txt": "two\n" });
  const blob = scene.git(project, ["rev-parse", "HEAD:a.txt"]).trim();
  const other = scene.git(project, ["hash-object", "-w", "a.txt"]).trim();
  scene.git(project, ["replace", blob, other]);
  expect(scene.git(project, ["show", `${base}:a.txt`])).toBe("two\n");
  expect(Buffer.from((await review.fileAt(base, "a.txt", 10))!).toString()).toBe("one\n");
  expect(await review.totals(base, commit)).toEqual({ files: 1, added: 1, deleted: 1 });
});

it("attributes in the work do not hide it", async () => {
  const project = scene.project({ "a.txt": "one\n" });
  const box = scene.clone(project);
  scene.write(box, { ".gitattributes": "*.txt -diff binary linguist-generated\n", "a.txt": "two\n" });
  // The control: plain git in the box shows it as binary.
  expect(scene.git(box, ["diff", "--numstat", "--", "a.txt"])).toContain("-\t-\ta.txt");
  const base = scene.head(project);
  const review = await openReviews().create({
    dir: scene.fresh("review"),
    borrow: project,
    baseCommit: base,
  });
  const { commit } = await review.take(scene.snapshot(box, await review.have()), 1);
  const change = (await review.changes(base, commit)).find(({ path }) => path === "a.txt");
  expect(change).toMatchObject({ isBinary: false, added: 1, deleted: 1 });
});

it("a box that says where objects are is not believed", async () => {
  const project = scene.project({ "a.txt": "one\n" });
  const box = scene.clone(project);
  const elsewhere = scene.project({ "secret.txt": "of another project\n" });
  const secret = scene.git(elsewhere, ["rev-parse", "HEAD:secret.txt"]).trim();
  writeFileSync(join(box, ".git/objects/info/alternates"), `${elsewhere}/.git/objects\n`);
  scene.write(box, { "b.txt": "b\n" });
  const base = scene.head(project);
  const review = await openReviews().create({
    dir: scene.fresh("review"),
    borrow: project,
    baseCommit: base,
  });
  await review.take(scene.snapshot(box, await review.have()), 1);
  await expect(review.blob(secret, 100)).rejects.toMatchObject({ code: "review.failed" });
});
