/** The fenced blocks of the documentation, and the sessions in them: what people copy from. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const root = new URL("../../", import.meta.url).pathname;

export interface DocBlock {
  /** Relative to the repository: `docs/network.md`. */
  readonly page: string;
  /** Of the fence that opens it. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

/** One command of a session, and what the page says it prints. */
export interface SessionStep {
  readonly command: string;
  readonly output: readonly string[];
}

const below = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name))
    .toSorted();

/** Pages for people who use AgentBox. Reference pages are generated, and decisions are history. */
export const docPages: readonly string[] = ["README.md", ...below("docs"), ...below("docs/drivers")];

export function blocksOf(page: string): readonly DocBlock[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map((match) => ({
    page,
    line: text.slice(0, match.index).split("\n").length,
    language: match[1] ?? "",
    text: match[2] ?? "",
  }));
}

/** A line with `$ ` in front is a command; the lines up to the next one are its output. */
export function stepsOf({ text }: Pick<DocBlock, "text">): readonly SessionStep[] {
  const steps: { command: string; output: string[] }[] = [];
  for (const line of text.trimEnd().split("\n")) {
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), output: [] });
    else steps.at(-1)?.output.push(line);
  }
  return steps;
}

/** The command lines of a block, whatever it prints. */
export const commandsOf = (block: DocBlock): readonly string[] =>
  block.language === "console"
    ? stepsOf(block).map(({ command }) => command)
    : block.text.split("\n").filter((line) => line.trim() !== "");
