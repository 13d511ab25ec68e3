import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { agents } from "../agents/index.ts";
import { agentFromToml } from "../agents/user-defined/user-agent.ts";
import { parseManifest, parseUserConfig } from "../manifest/index.ts";
import { withAgentFlags } from "./line/agent-flags.ts";
import { parseArguments } from "./line/arguments.ts";
import { findCommand } from "./table/index.ts";

const loadCatalogue = async () => ({ agents, runtimeNames: [], loadPresetNames: async () => [] });

/** These pages are where people copy from, so what they show must be right. */
describe.each(["network.md", "agents.md", "review.md", "credentials.md", "dashboard.md", "previews.md"])(
  "docs/%s",
  (name) => {
    const page = readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
    const blocks = (language: string): string[] =>
      [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
        .filter(([, tag]) => tag === language)
        .map(([, , text]) => text!);
    const indented = [...page.matchAll(/^ {4}(agentbox .*)$/gm)].map(([, line]) => line!);
    const commandLines = [...blocks("").flatMap((block) => block.split("\n")), ...indented]
      .map((line) => line.replace(/\s+#.*$/, ""))
      .filter((line) => line.startsWith("agentbox "));

    it.each(blocks("toml"))("shows a file that is valid: %s", (text) => {
      if (text.startsWith("name")) return expect(agentFromToml(text, "mybot.toml").name).toBe("mybot");
      const options = {
        file: "agentbox.toml",
        presets: ["npm", "github-read"],
        providers: ["local"],
        nowMs: 0,
      };
      const parsed = text.startsWith("version")
        ? parseManifest(text, options)
        : parseUserConfig(text, options);
      expect(parsed.findings).toEqual([]);
    });

    it.each(commandLines)("shows a command that exists: %s", async (line) => {
      const [, command = "", ...words] = line.match(/"[^"]*"|\S+/g) ?? [];
      const spec = findCommand(command);
      expect(spec, command).toBeDefined();
      const withOptions = await withAgentFlags(spec!, words, loadCatalogue);
      expect(() => parseArguments(withOptions, words)).not.toThrow();
    });

    it("shows some of both", () => {
      // A page about two commands has no manifest to show.
      const isShort = name === "previews.md";
      expect(blocks("toml").length).toBeGreaterThan(isShort ? -1 : 0);
      expect(commandLines.length).toBeGreaterThan(isShort ? 3 : 10);
    });
  },
);
