import { describe, expect, it } from "vitest";
import { collect, contentOf, imageType } from "./file-content.ts";
import { crumbsOf, dirOf, joinPath, nameOf } from "./box-path.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("what a file is shown as", () => {
  it("is decided by its bytes", () => {
    expect(imageType(new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))).toBe("image/png");
    expect(imageType(bytes("GIF89a"))).toBe("image/gif");
    expect(imageType(bytes("RIFFxxxxWEBP"))).toBe("image/webp");
    expect(imageType(new Uint8Array([0xff, 0xd8, 0xff, 0xe0]))).toBe("image/jpeg");
    for (const text of ["<svg onload=alert(1)>", "RIFFxxxxWAVE", "<html>", ""])
      expect(contentOf(bytes(text)).kind, text).toBe("text");
    expect(contentOf(bytes("a\0b"))).toEqual({ kind: "binary" });
    expect(contentOf(bytes("a\r\nb\n"))).toEqual({ kind: "text", lines: ["a", "b"] });
  });

  it("is never more than was asked for", async () => {
    async function* chunks() {
      for (;;) yield bytes("0123456789");
    }
    expect((await collect(chunks(), 25)).length).toBe(25);
  });
});

describe("paths", () => {
  it("have a crumb for each directory", () => {
    expect(crumbsOf("")).toEqual([{ name: "workspace", path: "" }]);
    expect(crumbsOf("a/b").map(({ path }) => path)).toEqual(["", "a", "a/b"]);
    expect([joinPath("", "x"), joinPath("a", "x"), dirOf("a/b/c"), dirOf("a"), nameOf("a/b")]).toEqual([
      "x",
      "a/x",
      "a/b",
      "",
      "b",
    ]);
  });
});
