/**
 * The model gateway: a host inside the gate that speaks the vendors' APIs. Guarantees:
 * - A box never holds a key: the placeholder is replaced here, and any other credential is refused.
 * - Nothing is sent before `admit` said yes, and each admission is settled exactly once.
 * - Answers pass through as they come, byte for byte; what is read of them is read on the side.
 */
import type { ModelApi, ModelProvider, ModelSpec } from "../contract/model/api.ts";
import type { TokenUsage } from "../contract/model/usage.ts";
import type { GateBox, InternalHost } from "./gate.ts";

/** A request that wants to be sent. */
export interface ModelRequest {
  readonly box: GateBox;
  readonly api: ModelApi;
  readonly provider: string;
  /** As it will be sent, after aliases. */
  readonly model: string;
  /**
   * `output` is what the request asks for at most, or what is usual where it does not say. Then `longest` is what an
   * answer may have all the same: that is reserved, so that a request which says nothing cannot overrun a budget.
   */
  readonly estimate: {
    readonly input: number;
    readonly output: number;
    readonly longest?: number | undefined;
  };
  /** Terms beyond the standard price, such as `speed=fast`, or a tool of the vendor with fees of its own. */
  readonly terms?: readonly string[] | undefined;
}

export type Admission =
  | {
      readonly outcome: "admitted";
      /** Opaque; names the reservation. */
      readonly ticket: string;
      /** When lower than what the answer could have: it must be held to so many tokens. */
      readonly maxOutput?: number | undefined;
    }
  /** `message` is one sentence for the agent to show. */
  | { readonly outcome: "refused"; readonly code: ModelRefusal; readonly message: string };

export type ModelRefusal = "budget.exhausted" | "model.price_unknown";

/** The outcome of a request. */
export interface ModelOutcome {
  /** As the vendor reported it; undefined when the answer had none. */
  readonly usage?: TokenUsage | undefined;
  /** Whether anything of an answer came: if so and there is no usage, the estimate is counted. */
  readonly hasAnswer: boolean;
  /** The price terms in the answer, by name: `{ service_tier: "priority" }`. */
  readonly terms?: Readonly<Record<string, string>> | undefined;
  readonly status: number;
  /** A code of ours (`model.…`) or the vendor's error type. */
  readonly error?: string | undefined;
  /** Why the model stopped: it has said all, it wants a tool, or it was cut. */
  readonly stop?: "end" | "tool" | "length" | "other" | undefined;
  readonly durationMs: number;
  readonly firstByteMs?: number | undefined;
}

export interface ModelListener {
  /** Reserves what the request may cost. It may wait for others that are under way; the signal ends the wait. */
  admit(request: ModelRequest, signal: AbortSignal): Promise<Admission>;
  /** Once for each admission. */
  settle(ticket: string, request: ModelRequest, outcome: ModelOutcome): void;
  /** Something of an answer has come; at most a few times a second for each box. */
  progressed(box: GateBox): void;
  /** Refused before it could be admitted: unknown provider, foreign key, model that is not allowed, no key. */
  refused(box: GateBox, code: string, message: string): void;
}

/** The credential that replaces the placeholder in a request. */
export interface ProviderKey {
  readonly value: string;
  /** `login`: the token of a person's subscription, which vendors take in another form than a key. */
  readonly form: "key" | "login";
  /** Facts that must be sent along with a login, by the header's name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where a login is taken, when that is not where keys are. */
  readonly baseUrl?: string | undefined;
  /** Called when a request with it leaves. */
  readonly sent?: (() => void) | undefined;
}

/**
 * The key for one request, found when it is made, so that what was taken back or refreshed counts at once. Undefined:
 * the provider takes none. Fails with `model.no_key` where there should be one.
 */
export type KeyOf = (box: GateBox, provider: ModelProvider) => Promise<ProviderKey | undefined>;

export interface ModelGateway extends InternalHost, AsyncDisposable {
  /** Puts what a box may ask in force; a box without it gets nothing. */
  setBox(box: GateBox, spec: ModelSpec): void;
  /** The box is over: what it has open is ended. */
  drop(box: string): void;
}
