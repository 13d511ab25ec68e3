import { describe, expect, it } from "vitest";
import { answerOf, closedText, durationLabel, meaningOf } from "./answer-words.ts";
import { Reading, readingMs } from "./reading.ts";

describe("an answer", () => {
  const approval = {
    box: "shop",
    digest: "sha256:1",
    sentence: "Let the box shop reach a.test on port 443.",
  };

  it("says what it allows, for whom and how long", () => {
    expect(meaningOf(approval, "once", 0)).toBe(
      "Let the box shop reach a.test on port 443, this once: one connection.",
    );
    expect(meaningOf({ ...approval, secret: "key" }, "once", 0)).toContain("one request");
    expect(meaningOf(approval, "box", 3_600_000)).toBe(
      "Let the box shop reach a.test on port 443, for 1 hour. Only shop may.",
    );
    expect(meaningOf(approval, "project", 86_400_000)).toContain(
      "every other box of its project too, for 1 day",
    );
  });

  it("is for the question that was shown, and no longer than it says", () => {
    expect(answerOf(approval, "once", 60_000)).toEqual({
      answer: "allow",
      scope: "once",
      digest: "sha256:1",
    });
    expect(answerOf(approval, "box", 60_000)).toEqual({
      answer: "allow",
      scope: "box",
      ttlMs: 60_000,
      digest: "sha256:1",
    });
    expect(answerOf(approval, "deny", 60_000)).toEqual({ answer: "deny", scope: "once", digest: "sha256:1" });
  });

  it("has words for what became of it, and for any length", () => {
    expect(closedText("timed_out")).toContain("no answer in time");
    expect(closedText("something new")).toBe("Answered elsewhere.");
    expect(durationLabel(90_000)).toBe("1m30s");
  });
});

describe("questions that have just changed", () => {
  const [one, two] = [
    { id: 1, digest: "sha256:1" },
    { id: 2, digest: "sha256:2" },
  ];

  it("cannot be answered before they could be read, and can be after", () => {
    const reading = new Reading();
    reading.see([one], 1_000);
    expect(reading.leftMs(1_000)).toBe(readingMs);
    expect(reading.leftMs(1_000 + readingMs)).toBe(0);
    // Seen again is not changed.
    reading.see([{ ...one }], 5_000);
    expect(reading.leftMs(5_000)).toBe(0);
  });

  it.each([
    ["another comes", [one, two]],
    ["one goes and another stands in its place", [two]],
    ["the same number asks something else", [{ id: 1, digest: "sha256:other" }]],
  ])("count anew when %s", (_, next) => {
    const reading = new Reading();
    reading.see([one], 0);
    reading.see(next, 10_000);
    expect(reading.leftMs(10_001)).toBeGreaterThan(0);
  });
});
