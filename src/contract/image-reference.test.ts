import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatImageReference, parseImageReference } from "./image-reference.ts";

const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

describe("parseImageReference", () => {
  it.each([
    ["debian", { name: "debian" }],
    ["debian:12", { name: "debian", tag: "12" }],
    ["registry.example:5000/team/app:v1.2_x", { name: "registry.example:5000/team/app", tag: "v1.2_x" }],
    [`debian@${digest}`, { name: "debian", digest }],
    [`debian:12@${digest}`, { name: "debian", tag: "12", digest }],
    ["my-org/my--app", { name: "my-org/my--app" }],
  ])("reads %s", (text, expected) => {
    expect(parseImageReference(text)).toEqual(expected);
  });

  it.each([
    "",
    "-debian",
    "--privileged",
    "debian:12;id",
    "debian:$(id)",
    "debian:`id`",
    "debian 12",
    "debian\n",
    "debian:12\n--x",
    "Debian",
    "debian:",
    "debian@sha256:12",
    `debian@sha256:${"g".repeat(64)}`,
    "../etc/passwd",
    "a//b",
    "a/../b",
    "debian:12?x=1",
    "debian#x",
    "a".repeat(513),
  ])("refuses %j", (text) => {
    expect(parseImageReference(text)).toBeUndefined();
  });

  it("gives back exactly what was written, and nothing a shell or an address would read as more", () => {
    const pieces = fc.constantFrom(
      "a",
      "9",
      "A",
      ":",
      "/",
      "@",
      ".",
      "-",
      "_",
      "$",
      ";",
      " ",
      "\n",
      "?",
      digest,
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
        (text) => {
          const parsed = parseImageReference(text);
          if (parsed === undefined) return;
          expect(formatImageReference(parsed)).toBe(text);
          expect(text).toMatch(/^[a-z0-9][A-Za-z0-9._:/@-]*$/);
          expect(text.split(/[/:]/)).not.toContain("..");
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it("answers within its time on hostile lengths", () => {
    expect(parseImageReference(`${"a-".repeat(250)}!`)).toBeUndefined();
    expect(parseImageReference(`${"a.".repeat(250)}!`)).toBeUndefined();
  });
});
