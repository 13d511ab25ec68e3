/** What the sessions of the documentation speak of: the project `~/shop`, and a model that says what the pages show. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Conversation } from "../model/conversation.ts";
import type { Step, ToolCall } from "../model/step.ts";
import type { TestDaemon } from "./daemon.ts";
import { runProgram } from "./program.ts";

const oldLoop = "for (const item of items) sum += item.price;";
const newLoop = "for (const { price, count = 1 } of items) sum += price * count;";
const plainScripts = `"test": "node test.js"`;
const moreScripts = `"test": "node test.js",\n    "postinstall": "node prices.js"`;

const files: Readonly<Record<string, string>> = {
  "README.md": "# shop\n",
  Makefile: 'test:\n\t@echo "3 tests passed"\n',
  "package.json": `{\n  "name": "shop",\n  "type": "module",\n  "scripts": {\n    ${plainScripts}\n  }\n}\n`,
  "src/cart.js": `export function total(items) {\n  let sum = 0;\n  ${oldLoop}\n  return sum;\n}\n`,
  "test.js": `import { total } from "./src/cart.js";
const isRight = total([{ price: 2, count: 3 }]) === 6;
console.log(isRight ? "12 passed" : "1 failed, 11 passed");
`,
};

/** The project, as a repository of one commit on `main`. */
export async function makeShop({ scratch }: TestDaemon): Promise<string> {
  const directory = join(scratch, "shop");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  const git = (...args: string[]) => runProgram(["git", "-C", directory, ...args]);
  await git("init", "-q", "-b", "main");
  await git("config", "user.name", "Ada");
  await git("config", "user.email", "ada@example.org");
  await git("add", "-A");
  await git("commit", "-qm", "First");
  return directory;
}

const usage = { input: 2_100, output: 180 };

const step = (text: string, ...calls: readonly ToolCall[]): Step => ({ text, calls, usage });
const path = (file: string): string => `/workspace/${file}`;
const read = (file: string): ToolCall => ({ tool: "Read", arguments: { file_path: path(file) } });
const edit = (file: string, before: string, after: string): ToolCall => ({
  tool: "Edit",
  arguments: { file_path: path(file), old_string: before, new_string: after },
});

const fixTests: readonly Step[] = [
  step("I'll look at the failing test first.", { tool: "Bash", arguments: { command: "node test.js" } }),
  step("", read("src/cart.js")),
  step("The count is missing.", edit("src/cart.js", oldLoop, newLoop)),
  step("", read("package.json")),
  step("Prices come after an install.", edit("package.json", plainScripts, moreScripts)),
  step("All tests pass now."),
];
const removeScript: readonly Step[] = [
  step("", edit("package.json", moreScripts, plainScripts)),
  step("Removed the script."),
];

/** What the model of the sessions answers: the steps of a task, one for each round. */
export function answerForDocs({ prompts, round }: Conversation): Step {
  const steps = prompts.at(-1)?.includes("install scripts") ? removeScript : fixTests;
  return steps[Math.min(round, steps.length - 1)] ?? {};
}
