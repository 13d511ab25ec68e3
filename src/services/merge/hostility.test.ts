import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MergeMode } from "../../contract/review/merge.ts";
import { caseCollisions } from "./case-collisions.ts";
import { MergeFixture } from "./merge.fixture.ts";

const isRoot = process.getuid!() === 0;
let f: MergeFixture;
beforeEach(async () => {
  f = await MergeFixture.create({ "a.txt": "one\n", "b.txt": "x\n".repeat(20), "data.dat": "data\n" });
});
afterEach(() => f.remove());

const hookNames = [
  "applypatch-msg",
  "commit-msg",
  "fsmonitor-watchman",
  "post-applypatch",
  "post-checkout",
  "post-commit",
  "post-index-change",
  "post-merge",
  "post-receive",
  "post-rewrite",
  "post-update",
  "pre-applypatch",
  "pre-auto-gc",
  "pre-commit",
  "pre-merge-commit",
  "pre-push",
  "pre-rebase",
  "pre-receive",
  "prepare-commit-msg",
  "proc-receive",
  "push-to-checkout",
  "reference-transaction",
  "sendemail-validate",
  "update",
];

/** Every program a repository can name, each of which writes down that it ran. */
class Canary {
  readonly program = join(f.dir, "canary.sh");
  readonly sang = join(f.dir, "sang");

  async plant(): Promise<void> {
    await writeFile(this.program, `#!/bin/sh\necho "$*" >> ${this.sang}\n`);
    await chmod(this.program, 0o755);
    const own = join(f.project, ".git/hooks");
    const elsewhere = join(f.dir, "hooks");
    for (const directory of [own, elsewhere]) {
      await mkdir(directory, { recursive: true });
      for (const name of hookNames) {
        await writeFile(join(directory, name), `#!/bin/sh\necho hook.${name} >> ${this.sang}\n`);
        await chmod(join(directory, name), 0o755);
      }
    }
    const drivers = ["evil", "e=v.il", "lfs"].flatMap((name) => [
      ...["smudge", "clean", "process"].map((part) => `filter.${name}.${part}`),
      `merge.${name}.driver`,
      `diff.${name}.command`,
      `diff.${name}.textconv`,
    ]);
    for (const key of [...programKeys, ...drivers]) f.git(["config", key, `${this.program} ${key}`]);
    for (const key of ["commit.gpgSign", "rerere.enabled", "submodule.recurse", "filter.evil.required"])
      f.git(["config", key, "true"]);
    f.git(["config", "core.hooksPath", elsewhere]);
    // The only one that git takes for a path and nothing more.
    await writeFile(join(f.dir, "gpg"), `#!/bin/sh\nexec ${this.program} gpg.program\n`, { mode: 0o755 });
    f.git(["config", "gpg.program", join(f.dir, "gpg")]);
    f.git(["config", "gc.auto", "1"]);
    f.git(["config", "remote.origin.url", `ext::${this.program}`]);
    f.git(["config", "remote.origin.promisor", "true"]);
    await rm(this.sang, { force: true });
  }

  /** The programs that have run, by their first word. */
  async heard(): Promise<readonly string[]> {
    const text = await readFile(this.sang, "utf8").catch(() => "");
    return [...new Set(text.split("\n").map((line) => line.split(" ")[0]!))].filter((name) => name !== "");
  }
}

const programKeys = [
  "core.fsmonitor",
  "core.editor",
  "core.pager",
  "core.sshCommand",
  "core.askPass",
  "core.alternateRefsCommand",
  "credential.helper",
  "diff.external",
  "remote.origin.uploadpack",
  "sequence.editor",
  "trailer.x.command",
];

const attributes = "* filter=evil merge=evil diff=evil\n*.dat filter=lfs merge=lfs diff=e=v.il\n";

describe("programs that a config, an attribute or a hook names", () => {
  const edit = (box: string) =>
    f.write(
      {
        ".gitattributes": attributes,
        "a.txt": "two\n",
        "b.txt": `first\n${"x\n".repeat(20)}`,
        "new.dat": "n\n",
      },
      box,
    );

  it.each<MergeMode>(["squash", "commits", "patch"])(
    "none runs: %s, plan, conflict, undo, export",
    async (mode) => {
      await f.write({ ".gitattributes": "b.txt merge=evil\n" });
      f.commit("attributes");
      const request = await f.work(edit, mode);
      const clash = await f.work((box) => f.write({ "b.txt": "clash\n" }, box), mode);
      await f.write({ "b.txt": `${"x\n".repeat(20)}last\n`, "data.dat": "meanwhile\n" });
      f.commit("meanwhile");
      const canary = new Canary();
      await canary.plant();
      expect((await f.merges.plan(request)).outcome).toBe("merged");
      expect((await f.merges.apply(clash)).outcome).toBe("conflict");
      // Changed files of the person are compared too, which is where clean filters would run.
      await writeFile(join(f.project, "data.dat"), "meanwhile\n");
      const outcome = await f.merges.apply(request);
      expect(outcome).toMatchObject({
        outcome: "merged",
        unfiltered: [".gitattributes", "a.txt", "b.txt", "new.dat"],
      });
      expect(await readFile(join(f.project, "new.dat"), "utf8")).toBe("n\n");
      await f.merges.export(request, "patch", join(f.dir, "out.patch"));
      await f.merges.export(request, "bundle", join(f.dir, "out.bundle"));
      if (outcome.outcome !== "merged") throw new Error("unreachable");
      await f.merges.undo({
        id: 1,
        box: "b",
        incarnation: "1",
        commit: request.commit,
        atMs: 0,
        isUndone: false,
        projectDir: f.project,
        ...outcome.record,
      });
      expect(await canary.heard()).toEqual([]);
      // The control: plain git in the same repository runs them.
      await f.write({ ".gitattributes": attributes, "a.txt": "changed\n" });
      const noFilters = [
        "-c",
        "filter.evil.process=",
        "-c",
        "filter.evil.required=false",
        "-c",
        "filter.lfs.process=",
      ];
      const plain = [
        ["status"],
        ["add", "a.txt"],
        [...noFilters, "diff"],
        [...noFilters, "diff", "--no-ext-diff"],
        [...noFilters, "commit", "-a", "--amend"],
        [...noFilters, "-c", "commit.gpgSign=false", "commit", "-q", "-a", "-m", "plain"],
        [...noFilters, "-c", "commit.gpgSign=false", "cherry-pick", clash.commit],
      ];
      f.git(["fetch", "-q", f.review, clash.commit]);
      for (const command of plain) {
        try {
          f.git(command);
        } catch {
          // That they make git fail is their business.
        }
      }
      const kinds = [
        "core.fsmonitor",
        "filter.evil.process",
        "diff.evil.command",
        "diff.evil.textconv",
        "core.editor",
      ];
      const more = [
        "gpg.program",
        "merge.evil.driver",
        "hook.reference-transaction",
        "hook.post-index-change",
      ];
      expect(await canary.heard()).toEqual(expect.arrayContaining([...kinds, ...more]));
    },
  );

  it("a commit is not signed, and the same commit by plain git would be", async () => {
    const request = await f.work((box) => f.write({ "a.txt": "two\n" }, box));
    f.git(["config", "commit.gpgSign", "true"]);
    f.git(["config", "gpg.program", "false"]);
    expect(() => f.git(["commit", "-q", "--allow-empty", "-m", "signed"])).toThrow(/sign/);
    await f.merged(request);
    expect(f.git(["cat-file", "commit", "HEAD"])).not.toContain("gpgsig");
  });
});

describe("objects that are no honest work", () => {
  /** A commit of a tree that git itself would not write. */
  async function forged(entries: readonly (readonly [string, string, string])[]) {
    const request = await f.work(() => undefined);
    const bytes = entries.flatMap(([mode, name, id]) => [
      Buffer.from(`${mode} ${name}\0`),
      Buffer.from(id, "hex"),
    ]);
    const file = join(f.dir, "tree");
    await writeFile(file, Buffer.concat(bytes));
    const tree = f.git(["hash-object", "--literally", "-w", "-t", "tree", file], f.review).trim();
    const identity = ["-c", "user.name=x", "-c", "user.email=x@y.z"];
    const commit = f
      .git([...identity, "commit-tree", "-m", "forged", "-p", request.base, tree], f.review)
      .trim();
    return { ...request, commit, head: commit };
  }
  const blob = (text: string) => {
    const file = join(f.dir, "blob");
    execFileSync("sh", ["-c", 'printf %s "$1" > "$2"', "sh", text, file]);
    return f.git(["hash-object", "-w", file], f.review).trim();
  };

  it("a link and a directory of one name do not lead out", async () => {
    const outside = join(f.dir, "outside");
    await mkdir(outside);
    const inner = Buffer.concat([Buffer.from("100644 b\0"), Buffer.from(blob("planted"), "hex")]);
    await writeFile(join(f.dir, "inner"), inner);
    const tree = f.git(["hash-object", "-w", "-t", "tree", join(f.dir, "inner")], f.review).trim();
    const control = await forged([["40000", "a", tree]]);
    expect(await f.merges.plan(control)).toMatchObject({ outcome: "merged" });
    const before = await f.state();
    const request = await forged([
      ["120000", "a", blob(outside)],
      ["40000", "a", tree],
    ]);
    await expect(f.merges.apply(request)).rejects.toMatchObject({ code: "merge.failed" });
    expect(await f.state()).toEqual(before);
    expect(await readdir(outside)).toEqual([]);
  });

  it.each([".git", ".GIT", "git~1", ".git.", ".g\u200cit", "..", "."])("the name %s", async (name) => {
    const before = await f.state();
    const request = await forged([["100644", name, blob("x")]]);
    await expect(f.merges.apply(request)).rejects.toMatchObject({ code: "merge.failed" });
    expect(await f.state()).toEqual(before);
  });

  it("an id that is an option, and an author that is a header", async () => {
    const request = await f.work((box) => f.write({ "a.txt": "two\n" }, box));
    await expect(f.merges.apply({ ...request, commit: "--output=x" })).rejects.toMatchObject({
      code: "merge.failed",
    });
    await expect(f.merges.apply({ ...request, author: "no address" })).rejects.toMatchObject({
      code: "merge.failed",
    });
    await f.merged({
      ...request,
      author: "A\nparent 0 <a@b.c>",
      trailers: ["X: y\n\nZ: z"],
      message: "-m \0$(id)",
    });
    expect(f.git(["log", "-1", "--format=%an|%ae|%B"]).trim()).toBe("A parent 0|a@b.c|-m $(id)\n\nX: y Z: z");
    expect(f.git(["fsck", "--strict", "--no-dangling"])).toBe("");
  });

  it("names that a disk without case cannot tell apart", async () => {
    expect(caseCollisions(["A", "a/b"], ["a/b"])).toEqual(["a/b"]);
    expect(caseCollisions(["A/x", "b/y"], ["b/y"])).toEqual([]);
    const request = await f.work((box) => f.write({ "A.txt": "other\n" }, box));
    expect(await f.merges.plan(request)).toMatchObject({ outcome: "merged" });
    f.git(["config", "core.ignoreCase", "true"]);
    await expect(f.merges.apply(request)).rejects.toMatchObject({ code: "merge.failed" });
  });
});

describe("a repository of somebody else", () => {
  it.runIf(isRoot)("everything the daemon makes there is theirs", async () => {
    const request = await f.work(
      (box) => f.write({ "new/deep/x.txt": "x\n", "a.txt": "two\n" }, box),
      "commits",
    );
    await chmod(f.dir, 0o755);
    await chmod(f.review, 0o700);
    await f.giveTo(1000);
    const record = await f.merged(request);
    const foreign = () => execFileSync("find", [f.project, "!", "-uid", "1000"]).toString();
    expect(foreign()).toBe("");
    expect(await readFile(join(f.project, "new/deep/x.txt"), "utf8")).toBe("x\n");
    await f.merges.undo(record);
    expect(foreign()).toBe("");
    await f.merges.export(request, "patch", join(f.project, "out.patch"));
    expect((await lstat(join(f.project, "out.patch"))).uid).toBe(1000);
  });

  it.runIf(isRoot)("a link of theirs leads the daemon nowhere they could not go", async () => {
    const request = await f.work((box) => f.write({ "new/x.txt": "x\n" }, box));
    const secret = join(f.dir, "secret");
    await writeFile(secret, "[user]\n\tname = leaked\n", { mode: 0o600 });
    await chmod(f.dir, 0o755);
    await rm(join(f.project, ".git/config"));
    await symlink(secret, join(f.project, ".git/config"));
    await f.giveTo(1000);
    await chmod(secret, 0o600);
    await expect(f.merges.apply(request)).rejects.toMatchObject({ code: "merge.failed" });
  });
});
