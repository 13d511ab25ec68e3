// The duties of each vendor's API; one file implements them per API.
import type { ApiName, Conversation } from "./conversation.ts";
import type { JsonObject } from "./json.ts";
import type { Answer, Fault } from "./step.ts";
import type { Usage } from "./usage.ts";

/** One event of a stream, and the usage a reader learns from it that it did not know before. */
export interface WireEvent {
  readonly event?: string;
  readonly data: JsonObject | "[DONE]";
  readonly usage?: Partial<Usage>;
}

/** A whole answer in one JSON document. */
export interface WireDocument {
  readonly body: JsonObject;
  readonly usage: Partial<Usage>;
}

export type ErrorFault = Extract<Fault, { kind: "error" }>;

export interface ModelApi {
  readonly name: ApiName;
  /** Whether this API answers POST on the path; `count` asks only for the number of tokens. */
  match(path: string): "answer" | "count" | undefined;
  /** `url` is path and query: Gemini keeps the model and the wish for a stream there. */
  read(body: JsonObject, url: string): Conversation;
  stream(answer: Answer, request: JsonObject): readonly WireEvent[];
  whole(answer: Answer, request: JsonObject): WireDocument;
  count(tokens: number): JsonObject;
  error(fault: ErrorFault): JsonObject;
}
