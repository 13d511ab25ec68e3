import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isLinkRefusal, SafeDirectory } from "./safe-directory.ts";

let dir: string;
let inside: string;
let outside: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "agentbox-safe-"));
  [inside, outside] = [join(dir, "inside"), join(dir, "outside")];
  mkdirSync(join(inside, "sub"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(inside, "sub", "file"), "own");
  writeFileSync(join(outside, "file"), "foreign");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const textOf = async (directory: SafeDirectory, name: string): Promise<string> => {
  await using file = await directory.openFile(name);
  return file.readFile("utf8");
};

describe("a safe directory", () => {
  it("reads what is in it, and what is below", async () => {
    await using root = await SafeDirectory.open(inside);
    await using sub = await root.openDirectory("sub");
    expect([await root.names(), await sub.names()]).toEqual([["sub"], ["file"]]);
    expect(await textOf(sub, "file")).toBe("own");
  });

  it("follows no link, to a directory or a file, and says so", async () => {
    await using root = await SafeDirectory.open(inside);
    symlinkSync(outside, join(inside, "away"));
    symlinkSync(join(outside, "file"), join(inside, "foreign"));
    const attempts = [
      () => root.openDirectory("away"),
      () => root.ensureDirectory("away"),
      () => root.openFile("foreign"),
    ];
    for (const attempt of attempts) {
      const error: unknown = await attempt().catch((reason: unknown) => reason);
      expect(isLinkRefusal(error)).toBe(true);
    }
    await expect(root.openDirectory("away")).rejects.toMatchObject({
      code: "file.unsafe_path",
      message: "away is a symbolic link, and links are not followed.",
    });
    const absent: unknown = await root.openDirectory("absent").catch((reason: unknown) => reason);
    expect(absent).toMatchObject({ code: "ENOENT" });
    expect(isLinkRefusal(absent)).toBe(false);
  });

  it("stays the directory that was opened when its path leads elsewhere", async () => {
    await using root = await SafeDirectory.open(inside);
    await using sub = await root.openDirectory("sub");
    renameSync(join(inside, "sub"), join(inside, "moved"));
    symlinkSync(outside, join(inside, "sub"));
    expect(await textOf(sub, "file")).toBe("own");
    await sub.replaceFile("new", 0o4644, (file) => file.writeFile("text"));
    expect(readFileSync(join(inside, "moved", "new"), "utf8")).toBe("text");
    // No set-user-id bit comes with a mode.
    expect(statSync(join(inside, "moved", "new")).mode & 0o7777).toBe(0o644);
  });

  it("replaces a link instead of writing through it", async () => {
    await using root = await SafeDirectory.open(inside);
    symlinkSync(join(outside, "file"), join(inside, "file"));
    await root.replaceFile("file", 0o600, (file) => file.writeFile("new"));
    expect(readFileSync(join(inside, "file"), "utf8")).toBe("new");
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("foreign");
    await root.replaceLink("file", "sub/file");
    expect(readlinkSync(join(inside, "file"))).toBe("sub/file");
  });

  it("leaves nothing behind when the writing fails", async () => {
    await using root = await SafeDirectory.open(inside);
    const fails = root.replaceFile("sub", 0o600, (file) => file.writeFile("x"));
    await expect(fails).rejects.toMatchObject({ code: "EISDIR" });
    expect(await root.names()).toEqual(["sub"]);
  });

  it("does not wait for the writer of a fifo", async () => {
    execFileSync("mkfifo", [join(inside, "fifo")]);
    await using root = await SafeDirectory.open(inside);
    await using fifo = await root.openFile("fifo");
    expect((await fifo.stat()).isFIFO()).toBe(true);
  });

  it.each(["", ".", "..", "sub/file", "a\0b", "x".repeat(256)])("takes %j for no name", async (name) => {
    await using root = await SafeDirectory.open(inside);
    expect(() => root.at(name)).toThrow("is not the name of a file");
    await expect(root.openDirectory(name)).rejects.toMatchObject({ code: "file.unsafe_path" });
  });
});
