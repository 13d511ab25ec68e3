/** The dashboard's reading of patches that git itself writes. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type FilePatch, parsePatch } from "../web/src/review/diff/patch.ts";

const dir = mkdtempSync(join(tmpdir(), "ab-patch-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.test", "-C", dir, ...args], {
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: dir, GIT_CONFIG_NOSYSTEM: "1" },
    stdio: ["ignore", "pipe", "ignore"],
  }).toString();
const at = (name: string) => join(dir, name);

const shown = ({ hunks }: FilePatch): string[] =>
  hunks.flatMap(({ lines }) =>
    lines.map(({ kind, text, oldLine, newLine }) => `${kind} ${oldLine ?? "-"} ${newLine ?? "-"} ${text}`),
  );

describe("a patch of git", () => {
  it("becomes files and numbered rows, whatever the names and the kinds of change are", () => {
    git("init", "-q");
    writeFileSync(at("kept.txt"), "one\ntwo\nthree\n");
    writeFileSync(at("tricky.sql"), "-- a/other\nselect 1\n");
    writeFileSync(at("mode.sh"), "x\n");
    writeFileSync(at("moved here.txt"), Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join(""));
    writeFileSync(at("end.txt"), "no newline");
    git("add", "-A");
    git("commit", "-qm", "first");
    writeFileSync(at("kept.txt"), "one\n2\nthree\nfour\n");
    writeFileSync(at("tricky.sql"), "++ b/other\nselect 1\n");
    writeFileSync(at('ä "quoted"\tname\n.txt'), "new\n");
    writeFileSync(at("image.bin"), new Uint8Array([0, 1, 2, 0]));
    chmodSync(at("mode.sh"), 0o755);
    symlinkSync("/etc/passwd", at("link"));
    renameSync(at("moved here.txt"), at("moved there.txt"));
    writeFileSync(at("end.txt"), "a newline\n");
    git("add", "-A");
    const { files, isCut } = parsePatch(git("diff", "--cached", "-M", "--src-prefix=a/", "--dst-prefix=b/"));
    expect(isCut).toBe(false);
    const of = (path: string) => files.find(({ newPath }) => newPath === path)!;
    expect(shown(of("kept.txt"))).toEqual([
      "context 1 1 one",
      "deleted 2 - two",
      "added - 2 2",
      "context 3 3 three",
      "added - 4 four",
    ]);
    // A line that looks like the header of another file is a line of this one.
    expect(shown(of("tricky.sql"))).toEqual([
      "deleted 1 - -- a/other",
      "added - 1 ++ b/other",
      "context 2 2 select 1",
    ]);
    expect(of('ä "quoted"\tname\n.txt')).toMatchObject({ kind: "added", newMode: "100644" });
    expect(of("image.bin")).toMatchObject({ kind: "added", isBinary: true, hunks: [] });
    expect(of("mode.sh")).toMatchObject({ oldMode: "100644", newMode: "100755", hunks: [] });
    expect(of("link")).toMatchObject({ newMode: "120000", kind: "added" });
    expect(of("moved there.txt")).toMatchObject({ kind: "renamed", oldPath: "moved here.txt" });
    expect(of("end.txt").hunks[0]!.lines).toEqual([
      { kind: "deleted", text: "no newline", oldLine: 1, hasNoNewline: true },
      { kind: "added", text: "a newline", newLine: 1 },
    ]);
    expect(files).toHaveLength(8);
  });
});
