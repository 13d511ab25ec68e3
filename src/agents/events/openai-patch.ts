/** Patches in the form that OpenAI's models write, with codex and with copilot. */
import { type FileChanged, fileChanged } from "./changed-files.ts";
import { asObject, asText } from "./json-line.ts";
import { summariseToolInput } from "./tool-summary.ts";

/** Its paths are relative to where the agent works. */
export function filesOfPatch(patch: string, directory: string): FileChanged[] {
  if (!patch.startsWith("*** Begin Patch")) return [];
  return [...patch.matchAll(/^\*\*\* (Add|Update|Delete) File: (.+)$/gm)].map(([, change = "", path = ""]) =>
    fileChanged(path.startsWith("/") ? path : `${directory}/${path}`, change),
  );
}

/** The patch in a tool's input, which is the input itself or its command; other texts are returned as well. */
export const patchOf = (input: unknown): string => asText(input) || asText(asObject(input)["command"]);

export function summariseInput(input: unknown): string {
  const files = filesOfPatch(patchOf(input), ".").map(({ path }) => path);
  if (files.length > 0) return files.join(", ");
  return summariseToolInput(asText(input) === "" ? input : { command: input });
}
