import { suggest } from "../../base/suggest.ts";
import { type ArgumentTemplate, listPlaceholders, placeholders, wordsIn } from "./argument-template.ts";
import type { AgentFile } from "./schema.ts";

/** One thing that is wrong with the file, before its line in the text is known. */
export interface AgentProblem {
  readonly path: readonly (string | number)[];
  readonly at?: "key" | "value";
  readonly message: string;
  readonly hint: string;
}

const commandNames = ["headless", "interactive", "resume", "resume_headless", "resume_interactive"] as const;

/** That the commands and variables of the file can be filled in, with any values at the agent's start. */
export function checkCommands(file: AgentFile): (AgentProblem | undefined)[] {
  const { launch, install } = file;
  const problems: (AgentProblem | undefined)[] = [];
  for (const name of commandNames) {
    const command = launch[name];
    if (!command) continue;
    const path = ["launch", name];
    if (name !== "resume") problems.push(checkProgram(command[0]!, path, install.kind));
    for (const [index, template] of command.entries()) {
      const wordPath = [...path, index];
      for (const text of [template].flat()) problems.push(checkWords(text, wordPath, template, file));
      problems.push(checkPair(command[index - 1], template, wordPath, name));
    }
    const words = command.flat().flatMap(wordsIn);
    if (name.endsWith("headless") && !words.includes("task")) {
      problems.push({
        path,
        message: `${path.join(".")} does not say where the task goes.`,
        hint: 'Add "{task}".',
      });
    }
    if (!name.startsWith("resume") && words.includes("conversation")) {
      problems.push({
        path,
        message: "A new conversation has no {conversation} yet.",
        hint: "Use {new_conversation} for an id that we choose, or move it to launch.resume.",
      });
    }
  }
  for (const [name, text] of Object.entries(launch.env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      const message = `"${name}" cannot be the name of an environment variable.`;
      problems.push({
        path: ["launch", "env", name],
        at: "key",
        message,
        hint: "Use letters, digits and underscores.",
      });
    }
    problems.push(checkWords(text, ["launch", "env", name], text, file));
  }
  return problems;
}

function checkProgram(
  first: ArgumentTemplate,
  path: string[],
  kind: AgentFile["install"]["kind"],
): AgentProblem | undefined {
  const isProgram = first === "{program}" && kind !== "none";
  if (isProgram || (typeof first === "string" && wordsIn(first).length === 0)) return undefined;
  return {
    path: [...path, 0],
    message: `${path.join(".")} does not begin with a program.`,
    hint:
      kind === "none" ? "Begin with the name of a program that is in every box." : 'Begin with "{program}".',
  };
}

export function checkWords(
  text: string,
  path: (string | number)[],
  whole: ArgumentTemplate,
  file: AgentFile,
): AgentProblem | undefined {
  for (const word of wordsIn(text)) {
    const isList = listPlaceholders.some((known) => known === word);
    if (isList && whole !== `{${word}}`) {
      return {
        path,
        message: `{${word}} is several arguments.`,
        hint: `Let "{${word}}" be an argument of its own.`,
      };
    }
    if (!isList && !placeholders.some((known) => known === word)) {
      const meant = suggest(word, [...placeholders, ...listPlaceholders]);
      const hint = meant
        ? `Did you mean {${meant}}?`
        : `Known: ${placeholders.map((p) => `{${p}}`).join(" ")}.`;
      return { path, message: `The placeholder {${word}} is not known.`, hint };
    }
    if (file.api === undefined && (word === "base_url" || word === "token")) {
      return {
        path,
        message: `{${word}} has no value without an API.`,
        hint: 'Add api = "openai-chat", or another.',
      };
    }
    if (word === "program" && file.install.kind === "none") {
      return {
        path,
        message: "{program} has no value when nothing is installed.",
        hint: "Name the program itself.",
      };
    }
  }
  return undefined;
}

/** A flag whose value is left out would take the next argument for its value. */
function checkPair(
  before: ArgumentTemplate | undefined,
  template: ArgumentTemplate,
  path: (string | number)[],
  command: (typeof commandNames)[number],
): AgentProblem | undefined {
  if (typeof template !== "string" || typeof before !== "string" || !/^--?[A-Za-z][^=]*$/.test(before))
    return undefined;
  const [word] = wordsIn(template);
  if (word === undefined || !mayBeMissing(word, command)) return undefined;
  return {
    path,
    message: `When there is no {${word}}, "${before}" would stay alone.`,
    hint: `Write ["${before}", "${template}"] to leave out both, or ["${template}"] to leave out only this.`,
  };
}

function mayBeMissing(word: string, command: (typeof commandNames)[number]): boolean {
  if (word === "task") return !command.endsWith("headless");
  return ["model", "instructions", "skills_dir", "mcp_json"].includes(word);
}
