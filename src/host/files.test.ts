import { execFileSync } from "node:child_process";
import { mkdtemp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSmallFile } from "./files.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "abx-files-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe("reading a small file", () => {
  it("gives its text, and nothing where there is none", async () => {
    await writeFile(join(dir, "a"), "1234");
    expect(await readSmallFile(join(dir, "a"), 4)).toBe("1234");
    expect(await readSmallFile(join(dir, "b"), 4)).toBeUndefined();
  });

  it("follows no link, waits for no pipe and reads no directory", async () => {
    await writeFile(join(dir, "a"), "1234");
    await symlink(join(dir, "a"), join(dir, "link"));
    execFileSync("mkfifo", [join(dir, "pipe")]);
    await mkdir(join(dir, "directory"));
    for (const name of ["link", "pipe", "directory"])
      expect(await readSmallFile(join(dir, name), 4), name).toBeUndefined();
  });

  it("refuses one that is larger", async () => {
    await writeFile(join(dir, "a"), "12345");
    await expect(readSmallFile(join(dir, "a"), 4)).rejects.toMatchObject({ code: "input.too_large" });
    expect(await readSmallFile(join(dir, "a"), 5)).toBe("12345");
  });
});
