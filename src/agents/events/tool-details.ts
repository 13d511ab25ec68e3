/** All of a tool call for a person who unfolds it: the lines an edit takes out and puts in, or the whole input. */
import { maxSaidText } from "../../contract/agent-events.ts";
import { type JsonObject, asList, asObject, asText } from "./json-line.ts";

export interface ToolDetails {
  readonly input?: string;
  readonly diff?: string;
}

/** SECURITY: an input can be megabytes; more than is kept is not even put together. */
const cut = (text: string): string => text.slice(0, maxSaidText);

export function toolDetails(input: unknown): ToolDetails {
  const diff = diffOf(input);
  if (diff !== "") return { diff: cut(diff) };
  const fields = Object.entries(asObject(input));
  const isTold = fields.length === 0 || (fields.length === 1 && !String(fields[0]![1]).includes("\n"));
  return isTold ? {} : { input: cut(fields.map(fieldLines).join("\n")) };
}

function fieldLines([name, value]: readonly [string, unknown]): string {
  const text = cut(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.includes("\n") ? `${name}:\n${indented(text)}` : `${name}: ${text}`;
}

const indented = (text: string): string => text.replaceAll(/^/gm, "  ");

/** Empty for what is no edit. The agents' own tools name their arguments in one of these ways. */
function diffOf(input: unknown): string {
  const fields = asObject(input);
  const patch = [
    asText(input),
    ...["command", "patchText", "patch", "input"].map((key) => asText(fields[key])),
  ].find((text) => text.startsWith("*** Begin Patch"));
  if (patch !== undefined) return patch.replaceAll(/^\*\*\* (?:Begin|End) Patch\n?/gm, "").trimEnd();
  const edits = asList(fields["edits"]).map(asObject);
  if (edits.length > 0) return edits.map(replacement).filter(Boolean).join("\n");
  const replaced = replacement(fields);
  if (replaced !== "") return replaced;
  const path = asText(fields["file_path"]) || asText(fields["filePath"]) || asText(fields["path"]);
  const content = asText(fields["content"]) || asText(fields["file_text"]);
  return path === "" || content === "" ? "" : marked("+", content);
}

function replacement(fields: JsonObject): string {
  const old = asText(fields["old_string"]) || asText(fields["oldString"]) || asText(fields["old_str"]);
  const next = asText(fields["new_string"]) || asText(fields["newString"]) || asText(fields["new_str"]);
  return [marked("-", old), marked("+", next)].filter(Boolean).join("\n");
}

const marked = (mark: string, text: string): string =>
  text === "" ? "" : cut(text).replace(/\n$/, "").replaceAll(/^/gm, mark);
