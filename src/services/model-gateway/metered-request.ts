/**
 * One request to a model, from its JSON to its settlement: read, checked, admitted and rewritten. Nothing is sent
 * before it was admitted, and what was admitted is settled exactly once. HTTP and WebSocket share it.
 */
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { ModelProvider, ModelSpec } from "../../contract/model/api.ts";
import type { Logger } from "../../host/logger.ts";
import type { ModelListener, ModelOutcome, ModelRequest } from "../../ports/model-gateway.ts";
import type { BoxModels } from "./box-models.ts";
import { judgeBody } from "./body/judge-body.ts";
import type { JsonObject } from "./json.ts";
import type { Asked, Learned, ModelLanguage } from "./language.ts";
import type { ModelLimits } from "./limits.ts";
import { isModelAllowed } from "../../contract/model/model-pattern.ts";
import { printable } from "../../base/printable.ts";

/** Which model a request is sent for: aliases first, then the allow-list. */
const longestName = 200;

function chooseModel({ aliases, allow }: ModelSpec, asked: string): string {
  const model = Object.hasOwn(aliases, asked) ? (aliases[asked] ?? asked) : asked;
  if (model === "" || model.length > longestName) {
    throw new AgentBoxError("model.bad_request", "The name of the model is empty or too long.");
  }
  // SECURITY: some servers load what the name says from where it says.
  if (asked.includes("://")) {
    throw new AgentBoxError("model.bad_request", "The name of the model is an address.", {
      hint: "Name a model that the provider has.",
    });
  }
  if (!isModelAllowed(allow, model)) {
    throw new AgentBoxError("model.not_allowed", `This box may not use the model "${printable(model)}".`, {
      hint: `It may use: ${allow.join(", ")}.`,
    });
  }
  return model;
}

export interface MeterContext {
  readonly listener: ModelListener;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: ModelLimits;
}

export interface Asking {
  readonly models: BoxModels;
  readonly provider: ModelProvider;
  readonly language: ModelLanguage;
  readonly path: string;
  readonly body: JsonObject;
  /** As it came, for the estimate. */
  readonly bytes: number;
}

const vendorHost = "https://api.openai.com";

/** The body that is sent. */
export interface SentRequest {
  readonly path: string;
  readonly body: JsonObject;
}

function rewritten(asking: Asking, model: string, maxOutput: number | undefined): SentRequest {
  const { language, path, body, provider } = asking;
  const isVendor = provider.baseUrl === vendorHost;
  return {
    path: language.rewritePath(path, model),
    body: language.rewrite(body, { model, maxOutput, isVendor }),
  };
}

export class MeteredRequest implements SentRequest {
  readonly #context: MeterContext;
  readonly #request: ModelRequest;
  readonly #ticket: string;
  readonly #startedMs: number;
  readonly #models: BoxModels;
  #firstByteMs: number | undefined;
  #isSettled = false;
  readonly path: string;
  readonly body: JsonObject;

  private constructor(context: MeterContext, asking: Asking, request: ModelRequest, admitted: Admitted) {
    this.#context = context;
    this.#models = asking.models;
    this.#request = request;
    this.#ticket = admitted.ticket;
    this.#startedMs = context.clock.monotonicMs();
    ({ path: this.path, body: this.body } = rewritten(asking, request.model, admitted.maxOutput));
  }

  /** For a request that only counts tokens: the model is checked, and nothing is reserved. */
  static free(asking: Asking): SentRequest {
    const { model } = asking.language.read(asking.body, asking.path);
    judgeBody(asking.language.api, asking.body);
    return rewritten(asking, chooseModel(asking.models.spec, model), undefined);
  }

  /** Throws what the program is told when it is not admitted. */
  static async admit(context: MeterContext, asking: Asking, signal: AbortSignal): Promise<MeteredRequest> {
    const { models, provider, language } = asking;
    const asked = language.read(asking.body, asking.path);
    const terms = judgeBody(language.api, asking.body);
    const request: ModelRequest = {
      box: models.box,
      api: language.api,
      provider: provider.name,
      model: chooseModel(models.spec, asked.model),
      estimate: estimateOf(asked, asking, context.limits),
      terms,
    };
    const admitted = await admission(context, request, signal);
    return new MeteredRequest(context, asking, request, admitted);
  }

  get durationMs(): number {
    return Math.round(this.#context.clock.monotonicMs() - this.#startedMs);
  }

  answered(): void {
    this.#firstByteMs ??= this.durationMs;
  }

  settle(outcome: Pick<ModelOutcome, "status" | "hasAnswer" | "error">, learned: Learned = {}): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (learned.usage) this.#models.noteConversation(learned.usage.input + learned.usage.output);
    this.#context.listener.settle(this.#ticket, this.#request, {
      ...outcome,
      error: outcome.error ?? learned.error,
      usage: learned.usage,
      terms: learned.terms,
      stop: learned.stop,
      durationMs: this.durationMs,
      firstByteMs: this.#firstByteMs,
    });
  }
}

interface Admitted {
  readonly ticket: string;
  readonly maxOutput?: number | undefined;
}

async function admission(
  { listener, logger }: MeterContext,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Admitted> {
  const answer = await listener.admit(request, signal).catch((error: unknown) => {
    // SECURITY: an error inside a decision is a no.
    if (!signal.aborted)
      logger.error(
        { box: request.box.name, error: messageOf(error) },
        "a model request could not be admitted",
      );
    throw new AgentBoxError("model.unavailable", "The budget of this box could not be checked.", {
      hint: "Try again; the daemon's log has the details.",
    });
  });
  if (answer.outcome === "refused") throw new NotAdmitted(answer.code, answer.message);
  const { output, longest = output } = request.estimate;
  const isLower = answer.maxOutput !== undefined && answer.maxOutput < longest;
  // Not the last token that is left: models refuse a limit above their own, which is rarely below the usual.
  return { ticket: answer.ticket, maxOutput: isLower ? Math.min(answer.maxOutput, output) : undefined };
}

function estimateOf(
  { maxOutput, choices = 1, isContinued }: Asked,
  { bytes, models }: Asking,
  { usualOutput, longestOutput }: ModelLimits,
): ModelRequest["estimate"] {
  const input = Math.ceil(bytes / 4) + (isContinued === true ? models.longestConversation : 0);
  if (maxOutput !== undefined) return { input, output: maxOutput };
  return { input, output: usualOutput * choices, longest: longestOutput * choices };
}

/** Refused by the budget, so its keeper knows it already. */
export class NotAdmitted extends AgentBoxError {}
