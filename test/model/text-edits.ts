// Aider declares no tools: it asks its model in prose to write edits into the answer, in one of a few formats.
import type { Conversation } from "./conversation.ts";

export type EditFormat = "search-replace" | "whole-file";

export function findEditFormat({ system, messages, tools }: Conversation): EditFormat | undefined {
  if (tools.length > 0) return undefined;
  const text = [system, ...messages.map((message) => message.text)].join("\n");
  if (text.includes("SEARCH/REPLACE")) return "search-replace";
  if (/\bfile listing\b/.test(text)) return "whole-file";
  return undefined;
}

const fence = "```";

/** In the whole-file format every block is a file, so there is no room for the command. */
export function workAsText(format: EditFormat, file: string, text: string, command: string): string {
  const body = text.endsWith("\n") ? text : `${text}\n`;
  if (format === "whole-file") return `${file}\n${fence}\n${body}${fence}\n\ndone`;
  const edit = `<<<<<<< SEARCH\n=======\n${body}>>>>>>> REPLACE\n`;
  return `${file}\n${fence}\n${edit}${fence}\n\n${fence}bash\n${command}\n${fence}\n\ndone`;
}
