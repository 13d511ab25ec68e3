// Picks, among the tools that a client declared, the one to write a file or to run a command with. Names of the
// arguments come from the declared schema, so a new version of an agent seldom needs a change here.
import { posix } from "node:path";
import type { Conversation, DeclaredTool } from "./conversation.ts";
import { type JsonObject, asList, asObject, asText } from "./json.ts";
import { exampleOf } from "./side-calls.ts";
import type { ToolCall } from "./step.ts";

const writers = ["Write", "write_file", "write", "create", "create_file"];
const shells = ["Bash", "exec_command", "shell_command", "shell", "local_shell", "run_shell_command", "bash"];
const pathNames = ["file_path", "filePath", "path", "absolute_path", "filename"];
const textNames = ["content", "file_text", "contents", "text"];
const commandNames = ["command", "cmd", "script"];

const pick = (tools: readonly DeclaredTool[], names: readonly string[]): DeclaredTool | undefined =>
  names.flatMap((name) => tools.filter((tool) => tool.name === name)).at(0);

const propertiesOf = ({ schema }: DeclaredTool): JsonObject => asObject(schema["properties"]);

function nameOf(tool: DeclaredTool, candidates: readonly string[]): string {
  const properties = propertiesOf(tool);
  return candidates.find((name) => name in properties) ?? candidates[0] ?? "";
}

/** The arguments that matter, and something valid for every other one that the tool insists on. */
function complete(tool: DeclaredTool, known: JsonObject): JsonObject {
  const properties = propertiesOf(tool);
  const missing = asList(tool.schema["required"])
    .map(asText)
    .filter((name) => !(name in known));
  const filled = missing.map((name) => [name, exampleOf(asObject(properties[name]))]);
  return { ...Object.fromEntries(filled), ...known };
}

/** undefined if the client declared nothing that can write a file. */
export function callToWrite(conversation: Conversation, file: string, text: string): ToolCall | undefined {
  const { tools, directory } = conversation;
  const patch = tools.find(({ name }) => name === "apply_patch");
  if (patch) return callToPatch(patch, file, text);
  const writer = pick(tools, writers);
  if (!writer) return callToRun(conversation, writeCommand(file, text));
  // Most agents take absolute paths only.
  const path = posix.isAbsolute(file) || !directory ? file : posix.join(directory, file);
  const known = { [nameOf(writer, pathNames)]: path, [nameOf(writer, textNames)]: text };
  return { tool: writer.name, arguments: complete(writer, known) };
}

function callToPatch(tool: DeclaredTool, file: string, text: string): ToolCall {
  const lines = text.replace(/\n$/, "").split("\n");
  const body = lines.map((line) => `+${line}`).join("\n");
  const input = `*** Begin Patch\n*** Add File: ${file}\n${body}\n*** End Patch`;
  if (tool.kind !== "function") return { tool: tool.name, input };
  return {
    tool: tool.name,
    arguments: complete(tool, { [nameOf(tool, ["input", "patch", "patchText"])]: input }),
  };
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function writeCommand(file: string, text: string): string {
  const body = text.endsWith("\n") ? text : `${text}\n`;
  let end = "END_OF_FILE";
  while (body.split("\n").includes(end)) end += "_";
  return `cat > ${quote(file)} <<'${end}'\n${body}${end}`;
}

/** undefined if the client declared no shell. */
export function callToRun({ tools }: Conversation, command: string): ToolCall | undefined {
  const shell = pick(tools, shells);
  if (!shell) return callFromCode(tools, command);
  const argv = ["bash", "-lc", command];
  if (shell.kind === "builtin") return { tool: shell.name, arguments: { command: argv } };
  const name = nameOf(shell, commandNames);
  const takesList = asObject(propertiesOf(shell)[name])["type"] === "array";
  return { tool: shell.name, arguments: complete(shell, { [name]: takesList ? argv : command }) };
}

/** Codex gives some models a single tool that runs JavaScript, from which they reach the others. */
function callFromCode(tools: readonly DeclaredTool[], command: string): ToolCall | undefined {
  const code = tools.find(({ name, kind }) => name === "exec" && kind === "freeform");
  const input = `text(JSON.stringify(await tools.exec_command({ cmd: ${JSON.stringify(command)} })));`;
  return code && { tool: code.name, input };
}
