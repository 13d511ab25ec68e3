import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { AgentEntry, InstallRecipe } from "../../contract/agent.ts";
import { readToml } from "../../manifest/toml/read-toml.ts";
import { schemaProblems } from "../../manifest/schema-problems.ts";
import { type ArgumentTemplate, wordsIn } from "./argument-template.ts";
import { agents } from "../index.ts";
import { checkAgentFile } from "./checks.ts";
import type { AgentProblem } from "./command-checks.ts";
import { readUserAgentOutput } from "./events.ts";
import { launchUserAgent } from "./launch.ts";
import { buildOptions } from "./options.ts";
import { AgentFile, keyNames, knownKeys } from "./schema.ts";

/** An agent that a person defines with one TOML file. Throws `agent.invalid` with the line of the first mistake. */
export function agentFromToml(text: string, file: string): AgentEntry {
  const { values, positions, findings } = readToml(text);
  const [finding] = findings;
  if (finding) throw invalid(file, finding.line, finding.column, finding.message, finding.hint);
  const refuse = (problem: AgentProblem): AgentBoxError => {
    const { line, column } = positions.find(problem.path, problem.at ?? "value");
    return invalid(file, line, column, problem.message, problem.hint);
  };
  const parsed = AgentFile.safeParse(values);
  if (!parsed.success) {
    const problems = schemaProblems(parsed.error.issues, values, knownKeys);
    // A misspelt key is also a missing one; the first says more.
    const { hint, ...problem } = problems.find(({ code }) => code === "E009") ?? problems[0]!;
    throw refuse({ ...problem, hint: hint.replace("docs/reference/manifest.md", "docs/agents.md") });
  }
  const [problem] = checkAgentFile(parsed.data, Object.keys(agents));
  if (problem) throw refuse(problem);
  return entryOf(parsed.data);
}

function invalid(file: string, line: number, column: number, message: string, hint: string): AgentBoxError {
  return new AgentBoxError("agent.invalid", printable(`${file}:${line}:${column}: ${message}`), {
    hint: printable(hint),
    facts: { file, line, column },
  });
}

function entryOf(file: AgentFile): AgentEntry {
  const { name, events, launch } = file;
  return {
    name,
    title: file.title ?? name,
    description: file.description,
    kind: "agent",
    install: recipeOf(file),
    options: buildOptions(file.options),
    api: file.api,
    defaultModel: file.default_model,
    isHeadless: launch.headless !== undefined,
    takesConversationId: usesWord(file, "new_conversation"),
    launch: (request) => launchUserAgent(file, request),
    readOutput: events && readUserAgentOutput(events),
    keys: {
      submit: keyNames[file.keys?.submit ?? "enter"],
      interrupt: keyNames[file.keys?.interrupt ?? "ctrl-c"],
    },
    statePaths: file.state,
    loginPaths: file.login,
    hosts: file.hosts,
    traps: trapsOf(file),
  };
}

function recipeOf({ name, install }: AgentFile): InstallRecipe {
  const { kind, package: packageName = "", version = "", bin = "" } = install;
  if (kind === "none") return { kind };
  if (kind !== "path") return { kind, package: packageName, version, bin };
  return { kind, bin, hint: install.hint ?? `Install it, then run: agentbox agents add ${name} --from PATH` };
}

/** Input that the file has no placeholder for is reported, and not lost in silence. */
function trapsOf(file: AgentFile): string[] {
  const { launch } = file;
  const canResume = launch.resume !== undefined || launch.resume_headless !== undefined;
  return [
    usesWord(file, "instructions")
      ? ""
      : "It gets no standing instructions: its file does not use {instructions}.",
    usesWord(file, "skills_dir") ? "" : "It gets no skills: its file does not use {skills_dir}.",
    usesWord(file, "mcp_json") ? "" : "It gets no MCP servers: its file does not use {mcp_json}.",
    file.events ? "" : "Its output is not read: what is known of its work comes from the model gateway.",
    canResume || launch.resume_interactive
      ? ""
      : "It cannot go on with a conversation: its file has no launch.resume.",
  ].filter((trap) => trap !== "");
}

function usesWord({ launch, files, links }: AgentFile, word: string): boolean {
  const { env, ...commands } = launch;
  const templates: ArgumentTemplate[] = Object.values(commands).flatMap((command) => command ?? []);
  const texts = [
    ...templates.flat(),
    ...Object.values(env),
    ...files.map(({ text }) => text),
    ...Object.values(links),
  ];
  return texts.some((text) => wordsIn(text).includes(word));
}
