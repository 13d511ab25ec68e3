/** One line for a tool call that a person understands: the command, the file, the query; else all of its input. */
import { asObject, asText } from "./json-line.ts";

/** The names of the argument that best describes a tool call, the most telling first. */
const tellingNames = [
  "command",
  "file_path",
  "filePath",
  "absolute_path",
  "path",
  "dir_path",
  "pattern",
  "query",
  "url",
  "prompt",
  "description",
] as const;

export function summariseToolInput(input: unknown): string {
  const fields = asObject(input);
  const name = tellingNames.find((one) => asText(fields[one]) !== "");
  const text = name === undefined ? JSON.stringify(fields) : asText(fields[name]);
  return text.trim().replaceAll(/\s*\n\s*/g, " ⏎ ");
}
