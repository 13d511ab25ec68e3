import type { AgentEvent } from "../../contract/agent-events.ts";
import { type JsonObject, asText } from "./json-line.ts";

export type FileChanged = Extract<AgentEvent, { kind: "file_changed" }>;

/** The agents' names for it, in the words of the contract. */
const changes: Readonly<Record<string, FileChanged["change"]>> = {
  add: "created",
  create: "created",
  Add: "created",
  delete: "deleted",
  Delete: "deleted",
};

export const fileChanged = (path: string, change: string): FileChanged => ({
  kind: "file_changed",
  path,
  change: Object.hasOwn(changes, change) ? changes[change]! : "changed",
});

/** Claude's tools that write a file answer with its path. */
export function fileOfClaudeAnswer(answer: JsonObject): FileChanged[] {
  const path = asText(answer["filePath"]);
  const hasWritten = Array.isArray(answer["structuredPatch"]);
  return path === "" || !hasWritten ? [] : [fileChanged(path, asText(answer["type"]))];
}
