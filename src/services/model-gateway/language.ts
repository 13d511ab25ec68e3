/**
 * The gateway's knowledge of one API: how to read a request, change the little that may be changed, and learn usage
 * from an answer. Data and pure functions; one file for each API.
 */
import type { ModelApi } from "../../contract/model/api.ts";
import type { TokenUsage } from "../../contract/model/usage.ts";
import type { ModelOutcome } from "../../ports/model-gateway.ts";
import type { JsonObject } from "./json.ts";

/** The facts of a request that count. */
export interface Asked {
  readonly model: string;
  /** The most the answer may have, over all its choices; undefined when the request does not say. */
  readonly maxOutput: number | undefined;
  /** How many answers at once; one unless it is said. */
  readonly choices?: number | undefined;
  /** It goes on from an answer that the vendor remembers, whose input is not in the request. */
  readonly isContinued?: boolean | undefined;
}

export interface Change {
  /** After aliases. */
  readonly model: string;
  /** The answer must be held to so many tokens. */
  readonly maxOutput: number | undefined;
  /** Whether this is the vendor's own service, and not one that is only compatible. */
  readonly isVendor: boolean;
}

/** The state of an answer so far. */
export interface Learned {
  readonly usage?: TokenUsage | undefined;
  /** The usage is the last word, not what was known when the answer began. */
  readonly isFinal?: boolean | undefined;
  readonly stop?: ModelOutcome["stop"];
  readonly terms?: ModelOutcome["terms"];
  readonly hasCall?: boolean | undefined;
  /** The vendor's error type. */
  readonly error?: string | undefined;
}

export interface ModelLanguage {
  readonly api: ModelApi;
  /** Whether POST on this path asks the model, or only counts tokens. The path is without prefix and query. */
  match(path: string): "answer" | "count" | undefined;
  /** Throws `model.bad_request`. */
  read(body: JsonObject, path: string): Asked;
  /** The body as it is sent; everything else stays as it is. */
  rewrite(body: JsonObject, change: Change): JsonObject;
  /** The path as it is sent. */
  rewritePath(path: string, model: string): string;
  /**
   * JSON keys of the events that say something, with their colon: text in an answer has its quotes escaped, so it cannot
   * look like one. These are looked for in the whole stream, and every event with one counts. They begin with a letter,
   * because the search stops at every first character it finds, and quotes are everywhere.
   */
  readonly early: readonly string[];
  /** These only in the last events; of each the last one counts, in this order: what has the last word stands last. */
  readonly late: readonly string[];
  /** Takes in one event, or a whole answer that was not streamed. */
  learn(before: Learned, event: JsonObject): Learned;
}
