/** The file that a call of Gemini CLI's, Qwen Code's or OpenCode's own tools has written. */
import { type FileChanged, fileChanged } from "./changed-files.ts";
import { asObject, asText } from "./json-line.ts";

const writingTools: ReadonlySet<string> = new Set(["write_file", "replace", "write", "edit"]);

export function writtenFile(tool: string, input: unknown, isNew: boolean): FileChanged[] {
  const fields = asObject(input);
  const path = asText(fields["file_path"]) || asText(fields["filePath"]);
  return path !== "" && writingTools.has(tool) ? [fileChanged(path, isNew ? "create" : "update")] : [];
}

/** How Gemini CLI and Qwen Code answer when there was no such file before. */
export const saysFileIsNew = (answer: string): boolean =>
  answer.startsWith("Successfully created and wrote to new file");
