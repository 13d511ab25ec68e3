// One answer of the model, as a script writes it.
import { randomUUID } from "node:crypto";
import type { Conversation } from "./conversation.ts";
import type { JsonObject } from "./json.ts";
import { type Usage, estimateTokens, noUsage } from "./usage.ts";

/** `arguments` calls a function; `input` is the text for a freeform tool. */
export type ToolCall =
  | { readonly tool: string; readonly arguments: JsonObject }
  | { readonly tool: string; readonly input: string };

/** Failures instead of, or in the middle of, the answer. */
export type Fault =
  | {
      readonly kind: "error";
      readonly status: number;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** The connection breaks after half of the answer. */
  | { readonly kind: "disconnect" }
  /** Nothing comes, until the client leaves. */
  | { readonly kind: "hang" }
  /** Half of the answer, then something that is not JSON. */
  | { readonly kind: "malformed" }
  /** A page in place of an answer, as from a captive portal. */
  | { readonly kind: "content-type"; readonly contentType?: string; readonly body?: string };

export interface Step {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly ToolCall[];
  /** Absent counts are zero; without `usage` the server makes an estimate. */
  readonly usage?: Partial<Usage>;
  /** Before the first byte of the answer. */
  readonly delayMs?: number;
  /** Between two pieces of a stream. */
  readonly chunkDelayMs?: number;
  readonly fault?: Fault;
}

/** A step with everything decided, ready to be put in the words of an API. */
export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly (ToolCall & { readonly id: string })[];
  readonly usage: Usage;
}

export function resolveStep(step: Step, conversation: Conversation, requestText: string): Answer {
  const id = randomUUID().replaceAll("-", "");
  const { text = "", thinking = "", calls = [] } = step;
  const usage = step.usage ?? {
    input: estimateTokens(requestText),
    output: estimateTokens(text + thinking + JSON.stringify(calls)),
    reasoning: estimateTokens(thinking),
  };
  return {
    id,
    model: conversation.model,
    text,
    thinking,
    calls: calls.map((call, index) => ({ ...call, id: `${id}${index}` })),
    usage: { ...noUsage, ...usage },
  };
}

/** Text in the pieces a stream sends; at most 64, so that a long text does not become thousands of events. */
export function splitText(text: string): string[] {
  const size = Math.max(16, Math.ceil(text.length / 64));
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
}
