// The content of a request in any of the APIs: the messages so far, the tools the client declared, and where in its
// work the client is. Everything is derived from the request, so resumed and parallel work needs no memory.
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import type { JsonObject } from "./json.ts";

export type ApiName = "anthropic" | "responses" | "chat" | "gemini";

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResult {
  readonly id: string;
  readonly text: string;
}

/** Neighbouring items of one speaker are one message; `tool` is the client answering tool calls. */
export interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly ToolUse[];
  readonly results: readonly ToolResult[];
}

export interface DeclaredTool {
  readonly name: string;
  /** `freeform` takes text instead of JSON; `builtin` is known to the API by its type alone. */
  readonly kind: "function" | "freeform" | "builtin";
  readonly schema: JsonObject;
}

export interface RequestParts {
  readonly api: ApiName;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly DeclaredTool[];
  readonly stream: boolean;
  /** Set when the client wants JSON instead of prose; empty when it does not say which. */
  readonly responseSchema?: JsonObject;
  /** The client only wants its input to be known; no answer is expected. */
  readonly isWarmUp?: boolean;
}

export interface Conversation extends RequestParts {
  /** The user's questions, in order; text that clients add by themselves in tags is not counted. */
  readonly prompts: readonly string[];
  /** 1 for the first prompt that leads to work, 2 after the first follow-up of such a prompt, and so on. */
  readonly turn: number;
  /** How many times tools were called since the last prompt: the index of the step that is due. */
  readonly round: number;
  /** The results of tools since the last prompt. */
  readonly results: readonly ToolResult[];
  /** Where the client works, if it told its model. */
  readonly directory?: string;
}

const tagged = /<([\w-]+)(?:\s[^>]*)?>[\s\S]*?<\/\1>/g;
const isAmbient = (text: string): boolean => text.replace(tagged, "").trim() === "";
const isPrompt = (message: Message): boolean => message.role === "user" && !isAmbient(message.text);

/** Each part starts with a prompt; what comes before the first prompt belongs to it. */
function splitAtPrompts(messages: readonly Message[]): Message[][] {
  const parts: Message[][] = [[]];
  let isAnswered = false;
  for (const message of messages) {
    if (isPrompt(message) && isAnswered) {
      parts.push([]);
      isAnswered = false;
    }
    if (message.role !== "user") isAnswered = true;
    parts.at(-1)?.push(message);
  }
  return parts;
}

const hasCalls = (message: Message): boolean => message.calls.length > 0;

/** The wordings of the agents we know; the first that matches wins. */
const directoryMarks: readonly RegExp[] = [
  /<cwd>\s*(\/[^<\n]*?)\s*<\/cwd>/,
  /(?:current |primary )?working directory(?: is)?\s*[:=]\s*[`"']?(\/[^\n`"'<]*)/i,
  /currently working in the (?:following )?director(?:y|ies)\s*:\s*(?:-\s*)?(\/[^\n`"'<]*)/i,
  /workspace directories:\**\s*-\s*(\/[^\n`"'<]*)/i,
];

function findDirectory({ system, messages }: RequestParts): string | undefined {
  const text = [system, ...messages.filter(({ role }) => role === "user").map(({ text }) => text)].join("\n");
  for (const mark of directoryMarks) {
    const found = mark.exec(text)?.[1]?.trim();
    if (found) return found.replace(/(?<=.)[/.]+$/, "");
  }
  return undefined;
}

export function readConversation(parts: RequestParts): Conversation {
  const turns = splitAtPrompts(parts.messages);
  const current = turns.at(-1) ?? [];
  const directory = findDirectory(parts);
  return {
    ...parts,
    prompts: turns.map((turn) => joinTexts(turn.filter(isPrompt))).filter((prompt) => prompt !== ""),
    turn: turns.slice(0, -1).filter((turn) => turn.some(hasCalls)).length + 1,
    round: current.filter(hasCalls).length,
    results: current.flatMap(({ results }) => results),
    ...omitUndefined({ directory }),
  };
}

const joinTexts = (messages: readonly Message[]): string => messages.map(({ text }) => text).join("\n");

/** For APIs that list calls and results one by one: puts neighbours of one role together. */
export function mergeNeighbours(messages: readonly Message[]): Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role !== message.role || message.role === "user") merged.push(message);
    else
      merged[merged.length - 1] = {
        role: message.role,
        text: [last.text, message.text].filter(Boolean).join("\n"),
        calls: [...last.calls, ...message.calls],
        results: [...last.results, ...message.results],
      };
  }
  return merged;
}

export const message = (role: Message["role"], parts: Partial<Omit<Message, "role">>): Message => ({
  role,
  text: parts.text ?? "",
  calls: parts.calls ?? [],
  results: parts.results ?? [],
});
