import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { agents } from "../agents/index.ts";
import { agentFromToml } from "../agents/user-defined/user-agent.ts";
import { parseManifest, parseUserConfig } from "../manifest/index.ts";
import { blocksOf, commandsOf, docPages } from "../../test/support/doc-blocks.ts";
import { withAgentFlags } from "./line/agent-flags.ts";
import { parseArguments } from "./line/arguments.ts";
import { readTasks } from "./queue/read-tasks.ts";
import { findCommand } from "./table/index.ts";

const loadCatalogue = async () => ({ agents, runtimeNames: [], loadPresetNames: async () => [] });

const options = { file: "agentbox.toml", presets: ["npm", "github-read"], providers: ["local"], nowMs: 0 };

/** The tasks of a file for the queue. */
async function tasksOf(text: string): Promise<readonly unknown[]> {
  const directory = mkdtempSync(join(tmpdir(), "agentbox-docs-"));
  try {
    writeFileSync(join(directory, "tasks.toml"), text);
    return await readTasks(join(directory, "tasks.toml"), Readable.from([]));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The words of a command line, as a shell splits them, up to where another program begins. */
function wordsOf(line: string): readonly string[] {
  const words = line.replace(/\s+#.*$/, "").match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  const end = words.findIndex((word) => /^[|<>&;]/.test(word));
  return end === -1 ? words : words.slice(0, end);
}

/** Where people copy from, so what is shown must be right; the sessions are run by `test/e2e/docs.host.test.ts`. */
describe.each(docPages)("%s", (page) => {
  const blocks = blocksOf(page);
  const tomls = blocks.filter(({ language }) => language === "toml").map(({ text }) => text);
  const lines = blocks
    .filter(({ language }) => language === "sh" || language === "console")
    .flatMap(commandsOf)
    .map((line) => line.replace(/^([A-Z_]+=\S* )+/, "").trim())
    .filter((line) => line.startsWith("agentbox "));

  it("says of each block what it is", () => {
    const untold = blocks.filter(({ language }) => !["console", "sh", "toml", "json"].includes(language));
    expect(untold.map(({ line, language }) => `line ${line}: ${language}`)).toEqual([]);
  });

  it.each(tomls)("shows a file that is valid: %s", async (text) => {
    if (text.startsWith("name")) return expect(agentFromToml(text, "mybot.toml").name).toBe("mybot");
    if (text.startsWith("[[task]]")) return expect((await tasksOf(text)).length).toBeGreaterThan(0);
    // A part of a file may stand in a project's or in a person's own.
    const readings = [text, `version = 1\n${text}`].map((whole) =>
      whole.startsWith("version") ? parseManifest(whole, options) : parseUserConfig(whole, options),
    );
    expect(readings.map(({ findings }) => findings)).toContainEqual([]);
  });

  it.each(lines)("shows a command that exists: %s", async (line) => {
    const [, command = "", ...words] = wordsOf(line);
    const spec = findCommand(command);
    expect(spec, command).toBeDefined();
    const withOptions = await withAgentFlags(spec!, words, loadCatalogue);
    expect(() => parseArguments(withOptions, words)).not.toThrow();
  });
});

it("finds the commands of the documentation", () => {
  const all = docPages.flatMap(blocksOf).flatMap(commandsOf);
  expect(all.filter((line) => line.startsWith("agentbox ")).length).toBeGreaterThan(100);
});
