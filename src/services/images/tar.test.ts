import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, readlink, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { collect } from "./images.fixture.ts";
import { type TarItem, tar } from "./tar.ts";

const file = (path: string, text: string, isProgram = false): TarItem => ({
  kind: "file",
  path,
  isProgram,
  bytes: Buffer.byteLength(text),
  content: Readable.from([Buffer.from(text)]),
});

describe("tar", () => {
  it("is read by the system's tar: names of any length, links, programs, empty files", async () => {
    const long = `d/${"long-name/".repeat(20)}file-ü.txt`;
    const target = `${"t/".repeat(80)}x`;
    const items: TarItem[] = [
      { kind: "dir", path: "d" },
      file(long, "x".repeat(1_000)),
      file("d/empty", ""),
      file("d/run", "#!", true),
      file("d/block", "y".repeat(512)),
      { kind: "link", path: "d/link", target },
      { kind: "link", path: "d/near", target: "run" },
    ];
    const dir = await mkdtemp(join(tmpdir(), "abx-tar-"));
    try {
      const archive = await collect(tar(items));
      execFileSync("tar", ["--extract", "--directory", dir], { input: archive });
      expect(await readFile(join(dir, long), "utf8")).toBe("x".repeat(1_000));
      expect(await readFile(join(dir, "d/block"), "utf8")).toBe("y".repeat(512));
      expect((await stat(join(dir, "d/empty"))).size).toBe(0);
      expect((await stat(join(dir, "d/run"))).mode & 0o777).toBe(0o755);
      expect((await stat(join(dir, "d/block"))).mode & 0o777).toBe(0o644);
      expect(await readlink(join(dir, "d/link"))).toBe(target);
      expect(await readlink(join(dir, "d/near"))).toBe("run");
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  it("refuses a file that grew or shrank", async () => {
    for (const bytes of [1, 5]) {
      const item: TarItem = {
        kind: "file",
        path: "f",
        isProgram: false,
        bytes,
        content: Readable.from([Buffer.from("abc")]),
      };
      await expect(collect(tar([item]))).rejects.toMatchObject({ code: "image.build_failed" });
    }
  });
});
