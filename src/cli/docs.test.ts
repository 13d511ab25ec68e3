import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseManifest, parseUserConfig } from "../contract/manifest/index.ts";
import { parseArguments } from "./arguments.ts";
import { findCommand } from "./table/index.ts";

/** docs/network.md is where people copy from, so what it shows must be right. */
const page = readFileSync(new URL("../../docs/network.md", import.meta.url), "utf8");
const blocks = (language: string): string[] =>
  [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, tag]) => tag === language)
    .map(([, , text]) => text!);
const commandLines = blocks("")
  .flatMap((block) => block.split("\n"))
  .map((line) => line.replace(/\s+#.*$/, ""))
  .filter((line) => line.startsWith("agentbox "));

describe("docs/network.md", () => {
  it.each(blocks("toml"))("shows a file that is valid: %s", (text) => {
    const options = { file: "agentbox.toml", presets: ["npm", "github-read"], nowMs: 0 };
    const parsed = text.startsWith("version") ? parseManifest(text, options) : parseUserConfig(text, options);
    expect(parsed.findings).toEqual([]);
  });

  it.each(commandLines)("shows a command that exists: %s", (line) => {
    const [, name = "", ...words] = line.split(/\s+/);
    const command = findCommand(name);
    expect(command, name).toBeDefined();
    expect(() => parseArguments(command!, words)).not.toThrow();
  });

  it("shows some of both", () => {
    expect(blocks("toml").length).toBeGreaterThan(3);
    expect(commandLines.length).toBeGreaterThan(10);
  });
});
