import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hasErrors,
  maxFileBytes,
  parseFlags,
  parseManifest,
  parseUserConfig,
} from "../src/manifest/index.ts";
import { AgentBoxError } from "../src/base/errors.ts";
import { costRatio } from "./support/cost.ts";

const options = { file: "agentbox.toml", agents: ["shell"], runtimes: ["memory"], userHome: "/home/ada" };
const directory = join(import.meta.dirname, "manifest-corpus");

/** The one promise: findings with a place, and the program is as it was. */
function survives(text: string) {
  const { findings, manifest } = parseManifest(text, options);
  parseUserConfig(text, options);
  expect(findings.length).toBeLessThanOrEqual(100);
  for (const { line, column, message, hint } of findings) {
    expect(line).toBeGreaterThan(0);
    expect(column).toBeGreaterThan(0);
    // oxlint-disable-next-line no-control-regex
    expect(message + hint).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  }
  expect(manifest === undefined).toBe(hasErrors(findings));
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  return findings;
}

/** A plain manifest of nearly the greatest length; only its variables are too many. */
const largest = `version = 1\n[env]\n${Array.from({ length: 15_000 }, (_, i) => `V${i}="x"\n`).join("")}`;

const manyDestinations = (i: number): string => {
  const hosts = Array.from({ length: 32 }, (_, n) => `"h${n}.example.org"`).join();
  const paths = Array.from({ length: 64 }, (_, n) => `"/${i}/${n}"`).join();
  return `[secrets.s${i}]\nhow = "bearer"\nhosts = [${hosts}]\npaths = [${paths}]\n`;
};

describe("hostile manifests", () => {
  it("a plain one passes: the control", () => {
    expect(survives('version = 1\n[agent]\nname = "shell"\n')).toEqual([]);
  });

  it.each(readdirSync(directory))("%s is refused", (name) => {
    expect(hasErrors(survives(readFileSync(join(directory, name), "utf8")))).toBe(true);
  });

  it.each([
    ["a key of 60,000 parts", `version = 1\n${"a.".repeat(60_000)}a = 1`],
    ["a table of 60,000 parts", `version = 1\n[${"a.".repeat(60_000)}a]`],
    ["30,000 tables", `version = 1\n${Array.from({ length: 15_000 }, (_, i) => `[t${i}]\n`).join("")}`],
    [
      "30,000 unknown keys",
      `version = 1\n[agent]\n${Array.from({ length: 30_000 }, (_, i) => `k${i}=1\n`).join("")}`,
    ],
    ["an array of 100,000", `version = 1\n[agent]\nargs = [${"1,".repeat(100_000)}]`],
    ["10,000 mounts", `version = 1\n${"[[mounts]]\n".repeat(10_000)}`],
    [
      "3,000 variables",
      `version = 1\n[env]\n${Array.from({ length: 3_000 }, (_, i) => `V${i}="x"\n`).join("")}`,
    ],
    [
      "64 secrets of many places",
      `version = 1\n${Array.from({ length: 64 }, (_, i) => manyDestinations(i)).join("")}[nothing]`,
    ],
    ["a long word to compare", `version = 1\n${"x".repeat(200_000)} = 1`],
    ["one long line of quotes", `version = 1\na = ${'"'.repeat(200_000)}`],
    ["a long duration", `version = 1\n[lifecycle]\nttl = "${"1d".repeat(100_000)}"`],
    ["too much", "#".repeat(maxFileBytes + 1)],
  ])("%s is refused, at the cost of a few plain ones as large as may be", async (_name, text) => {
    expect(hasErrors(survives(text))).toBe(true);
    const ratio = await costRatio(
      () => parseManifest(text, options),
      () => parseManifest(largest, options),
    );
    expect(ratio).toBeLessThan(10);
  });
});

const name = fc.constantFrom(
  "version",
  "agent",
  "options",
  "model",
  "providers",
  "budget",
  "mcp",
  "secrets",
  "runtime",
  "security",
  "exceptions",
  "tmpfs",
  "name",
  "mounts",
  "services",
  "env",
  "__proto__",
  "constructor",
  "a",
  '"q k"',
  "'l'",
  "ready",
  "after",
);
const word = fc.constantFrom(
  "1",
  '"x"',
  "'y'",
  "[1, 2]",
  "{ a = 1 }",
  '"""\nm"""',
  "true",
  "nan",
  "1979-05-27",
  "[",
  "{",
  '"',
  "# c",
  "",
  "[[1]]",
  "{ __proto__ = 1 }",
  '"~"',
  '"5d"',
);
const line = fc.oneof(
  fc
    .tuple(fc.array(name, { minLength: 1, maxLength: 4 }), word)
    .map(([keys, value]) => `${keys.join(".")} = ${value}`),
  fc.array(name, { minLength: 1, maxLength: 3 }).map((keys) => `[${keys.join(".")}]`),
  fc.array(name, { minLength: 1, maxLength: 3 }).map((keys) => `[[${keys.join(".")}]]`),
  fc.string({ unit: "binary" }),
);

describe("properties of parsing", () => {
  it("any text gives findings, never an exception", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => void survives(text)),
      { numRuns: 500 },
    );
  });

  it("any text that looks like TOML gives findings, never an exception", () => {
    const document = fc.array(line, { maxLength: 12 }).map((lines) => `version = 1\n${lines.join("\n")}`);
    fc.assert(
      fc.property(document, (text) => void survives(text)),
      { numRuns: 2_000 },
    );
  });

  it("any flags give a layer or input.invalid", () => {
    const section = fc.constantFrom(
      "agent",
      "model",
      "budget",
      "mcp",
      "secrets",
      "runtime",
      "security",
      "workspace",
      "resources",
      "mounts",
      "env",
      "services",
      "lifecycle",
      "limits",
      "__proto__",
    );
    const flags = fc.oneof(
      fc.anything(),
      fc.dictionary(section, fc.anything()),
      fc.json().map((text) => JSON.parse(text) as unknown),
    );
    fc.assert(
      fc.property(flags, (value) => {
        try {
          expect(parseFlags(value).source).toBe("flag");
        } catch (error) {
          expect(error).toBeInstanceOf(AgentBoxError);
          expect((error as AgentBoxError).code).toBe("input.invalid");
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
