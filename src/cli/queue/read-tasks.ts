/**
 * Tasks from a file: one a line, or JSON lines, or a TOML file with a [[task]] for each. A task of its own kind names an
 * agent, a budget or any other section of a manifest.
 */
import { readFile } from "node:fs/promises";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { parseDuration } from "../../base/duration.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";

export interface TypedTask {
  readonly task: string;
  readonly name?: string;
  readonly timeoutMs?: number;
  /** The part of a manifest that is this task's own. */
  readonly flags?: Readonly<Record<string, unknown>>;
}

const maxBytes = 2 ** 20;

/** `-` is the standard input. */
export async function readTasks(path: string, input: AsyncIterable<unknown>): Promise<TypedTask[]> {
  const text = path === "-" ? await readAll(input) : await readText(path);
  const tasks = path.endsWith(".toml") ? await parseToml(path, text) : parseLines(path, text);
  if (tasks.length > 0) return tasks;
  throw invalid(`No task in ${path === "-" ? "the input" : path}.`, "Write one task a line.");
}

async function readText(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw invalid(
      `The file ${path} cannot be read: ${messageOf(error)}.`,
      "Name a file with one task a line.",
    );
  });
  if (text.length > maxBytes) throw tooLarge(path);
  return text;
}

async function readAll(input: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const part of input) {
    text += String(part);
    if (text.length > maxBytes) throw tooLarge("The input");
  }
  return text;
}

/** Empty lines and lines that begin with # are for the reader. */
function parseLines(path: string, text: string): TypedTask[] {
  return text.split(/\r?\n/).flatMap((line, index): TypedTask[] => {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return [];
    return [trimmed.startsWith("{") ? parseJson(trimmed, `${path}:${index + 1}`) : { task: trimmed }];
  });
}

function parseJson(line: string, position: string): TypedTask {
  try {
    return asTask(JSON.parse(line), position);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid(`${position} is not JSON: ${error.message}.`, example);
    throw error;
  }
}

async function parseToml(path: string, text: string): Promise<TypedTask[]> {
  const { parse } = await import("smol-toml");
  let file: Record<string, unknown>;
  try {
    file = parse(text);
  } catch (error) {
    throw invalid(`${path} is not TOML: ${messageOf(error).split("\n")[0]}.`, example);
  }
  const { task: tasks, ...more } = file;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw invalid(`${path} has "${unknown}" outside of a task.`, example);
  if (!Array.isArray(tasks)) throw invalid(`${path} has no [[task]].`, example);
  return tasks.map((one, index) => asTask(one, `${path}, task ${index + 1}`));
}

function asTask(value: unknown, position: string): TypedTask {
  if (typeof value !== "object" || value === null) throw invalid(`${position} is not a task.`, example);
  const { task, name, timeout, agent, ...sections } = value as Record<string, unknown>;
  if (typeof task !== "string" || task.trim() === "") throw invalid(`${position} has no task text.`, example);
  if (name !== undefined && typeof name !== "string")
    throw invalid(`${position}: the name is not text.`, example);
  const timeoutMs =
    timeout === undefined ? undefined : parseDuration(typeof timeout === "string" ? timeout : "");
  if (timeout !== undefined && timeoutMs === undefined)
    throw invalid(`${position}: the timeout is not a duration.`, 'Write timeout = "30m".');
  const flags = { ...sections, ...(agent === undefined ? {} : { agent: asAgent(agent) }) };
  return { task, ...omitUndefined({ name, timeoutMs }), ...(Object.keys(flags).length > 0 ? { flags } : {}) };
}

/** `agent = "codex"` is short for its section. */
const asAgent = (agent: unknown): unknown => (typeof agent === "string" ? { name: agent } : agent);

const example = 'A task is: { "task": "fix the tests", "agent": "codex", "budget": { "run": { "usd": 2 } } }';

const invalid = (message: string, hint: string): AgentBoxError =>
  new AgentBoxError("input.invalid", message, { hint });

const tooLarge = (path: string): AgentBoxError =>
  invalid(`${path} is larger than 1 MiB.`, "Add fewer tasks at once.");
