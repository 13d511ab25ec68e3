import { describe, expect, it } from "vitest";
import { formatBytes, formatCount, formatMoney, formatSpan } from "./format.ts";
import { visible, visiblePieces } from "./visible-text.ts";

describe("amounts", () => {
  it("spans have two units at most, and none that is zero", () => {
    expect(formatSpan(0)).toBe("0s");
    expect(formatSpan(45_000)).toBe("45s");
    expect(formatSpan(3_600_000 + 5_000)).toBe("1h");
    expect(formatSpan(90_061_000)).toBe("1d 1h");
  });
  it("bytes, money and counts are short", () => {
    expect(formatBytes(0)).toBe("0 B");
    expect(formatBytes(1536)).toBe("1.5 KiB");
    expect(formatBytes(200 * 2 ** 20)).toBe("200 MiB");
    expect(formatMoney(0)).toBe("$0.00");
    expect(formatMoney(1_000)).toBe("< $0.01");
    expect(formatMoney(1_234_560_000)).toBe("$1,234.56");
    expect(formatCount(9_999)).toBe("9,999");
    expect(formatCount(12_345)).toBe("12.3k");
    expect(formatCount(2_500_000)).toBe("2.5M");
  });
});

describe("hidden characters", () => {
  it("are named, and the rest stays as it is", () => {
    expect(visible("plain\ttext\nof two lines")).toBe("plain\ttext\nof two lines");
    expect(visible("a\u202eb\u200bc\u0007")).toBe("a⟨U+202E⟩b⟨U+200B⟩c⟨U+0007⟩");
    expect(visiblePieces("\u{e0041}x")).toEqual([
      { text: "U+E0041", isHidden: true },
      { text: "x", isHidden: false },
    ]);
  });
});
