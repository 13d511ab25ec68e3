import { describe, expect, it } from "vitest";
import { kinds } from "./planted-changes.fixture.ts";

describe("dangers by mode", () => {
  it("new executables and bits that were set", async () => {
    expect(await kinds({ path: "x", newMode: "100755" })).toEqual(["executable"]);
    expect(await kinds({ path: "x", old: "a", newMode: "100755" })).toEqual(["executable"]);
    expect(await kinds({ path: "src/x.py", old: "a", oldMode: "100755", newMode: "100644" })).toEqual([]);
  });

  it("a program whose content changes, and not one that only moves its bytes", async () => {
    const program = { path: "src/x.py", old: "a", oldMode: "100755", newMode: "100755" } as const;
    expect(await kinds({ ...program, text: "b" })).toEqual(["executable"]);
    expect(await kinds({ ...program, text: "a", newId: "1".repeat(40) })).toEqual([]);
  });

  it("scripts and programs without the bit", async () => {
    expect(await kinds({ path: "bin/x", text: "#!/bin/sh\n" })).toEqual(["executable"]);
    expect(await kinds({ path: "docs/x.md", text: "#!/bin/sh\n" })).toEqual([]);
    expect(await kinds({ path: "data/x.mo", text: "\u007fELF\u0002", isBinary: true })).toEqual([
      "executable",
    ]);
    expect(await kinds({ path: "data/x.mo", text: "MZ\u0090\0", isBinary: true })).toEqual(["executable"]);
    expect(await kinds({ path: "data/x", text: "MZ is how it begins" })).toEqual([]);
    const magic = (...bytes: number[]) => new TextDecoder().decode(new Uint8Array(bytes));
    for (const text of [
      magic(0xcf, 0xfa, 0xed, 0xfe, 0x07, 0, 0, 1, 3),
      magic(0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1, 0),
      magic(0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0x34),
    ])
      expect(await kinds({ path: "data/x.mo", text, isBinary: true })).toEqual(["executable"]);
    expect(await kinds({ path: "data/x.mo", old: "a", text: "\u007fELF\u0002", isBinary: true })).toEqual([
      "executable",
    ]);
    expect(await kinds({ path: "src/bin/x.js", old: "#!/bin/a\n", text: "#!/bin/a\nb\n" })).toEqual([
      "executable",
    ]);
  });

  it("submodules", async () => {
    expect(await kinds({ path: "vendor/x", newMode: "160000" })).toEqual(["submodule"]);
    expect(await kinds({ path: "vendor/x", old: "", oldMode: "160000", newMode: "160000" })).toEqual([
      "submodule",
    ]);
  });

  it("large binaries", async () => {
    expect(await kinds({ path: "a.bin", isBinary: true, bytes: 2 << 20 })).toContain("large_binary");
    expect(await kinds({ path: "a.png", isBinary: true, bytes: 1 << 19 })).toEqual([]);
  });

  it.each([
    ["a/l", "/etc/passwd", true],
    ["a/l", "../../x", true],
    ["l", "..", true],
    ["l", "C:\\x", true],
    ["l", "~/x", true],
    ["l", "a\\..\\x", true],
    ["l", ".git/hooks", true],
    ["l", "GIT~1/config", true],
    ["l", "here/../x", true],
    ["l", ".vscode", true],
    ["a/l", "../.github/workflows/ci.yml", true],
    ["a/l", "../x", false],
    ["a/b/l", "../../x", false],
    ["l", "./src/x.ts", false],
  ])("a link at %s to %s → %s", async (path, text, is) => {
    expect((await kinds({ path, text, newMode: "120000" })).includes("symlink")).toBe(is);
  });
});
