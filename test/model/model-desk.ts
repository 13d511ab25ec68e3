// Takes a request in any API, logs it, asks the script, and keeps count: what HTTP and WebSocket share.
import type { IncomingHttpHeaders } from "node:http";
import type { ModelApi } from "./api.ts";
import type { ApiName, Conversation } from "./conversation.ts";
import type { Outcome } from "./delivery.ts";
import type { JsonObject } from "./json.ts";
import { ResponseMemory } from "./response-memory.ts";
import { type Script, nextStep } from "./script.ts";
import { answerSideCall } from "./side-calls.ts";
import { type Answer, type Step, resolveStep } from "./step.ts";
import { UsageLedger } from "./usage.ts";

export interface LoggedRequest {
  /** `none` for what is no question to a model: a list of models, a ping, an unknown path. */
  readonly api: ApiName | "none";
  readonly transport: "http" | "websocket";
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly model: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly at: Date;
  readonly isSideCall: boolean;
  readonly conversation?: Conversation;
  /** Its outcome; changes while the answer is in progress. */
  outcome: Outcome;
}

export type RequestHead = Pick<LoggedRequest, "transport" | "method" | "path" | "headers">;

export interface Reply {
  readonly step: Step;
  readonly answer: Answer;
  readonly conversation: Conversation;
  readonly logged: LoggedRequest;
}

export interface DeskOptions {
  readonly script: Script;
  /** false lets the script answer titles, classifiers and the like too. */
  readonly answersSideCalls: boolean;
  readonly onRequest: (request: LoggedRequest) => void;
}

export class ModelDesk {
  readonly requests: LoggedRequest[] = [];
  readonly usage = new UsageLedger();
  readonly #options: DeskOptions;
  readonly #memory = new ResponseMemory();

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  log(head: RequestHead, rest: Partial<LoggedRequest>): LoggedRequest {
    const request: LoggedRequest = {
      ...head,
      api: "none",
      model: "",
      body: undefined,
      at: new Date(),
      isSideCall: false,
      outcome: "pending",
      ...rest,
    };
    this.requests.push(request);
    this.#options.onRequest(request);
    return request;
  }

  async ask(api: ModelApi, head: RequestHead, body: JsonObject): Promise<Reply> {
    const full = api.name === "responses" ? this.#memory.complete(body) : body;
    const conversation = api.read(full, head.path);
    const aside = this.#options.answersSideCalls ? answerSideCall(conversation) : undefined;
    const logged = this.log(head, {
      api: api.name,
      model: conversation.model,
      body,
      isSideCall: aside !== undefined,
      conversation,
    });
    const step = aside ?? (await nextStep(this.#options.script, conversation));
    const answer = resolveStep(step, conversation, JSON.stringify(full));
    if (api.name === "responses") this.#memory.remember(full, answer);
    return { step, answer, conversation, logged };
  }
}
