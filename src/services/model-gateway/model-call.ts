/**
 * One HTTP request of a box: checked, sent with the host's key, and answered with the provider's own bytes as they
 * come. It ends in exactly one way: an answer, an error in the vendor's shape, or a broken connection.
 */
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import type { AgentBoxError } from "../../base/errors.ts";
import type { ModelProvider } from "../../contract/model/api.ts";
import { type AnswerReader, readAnswer, readFailure } from "./answer-reader.ts";
import type { KeyOf } from "../../ports/model-gateway.ts";
import type { BoxModels } from "./box-models.ts";
import {
  type Key,
  answerHeaders,
  keyedHeaders,
  maskKey,
  noKey,
  readKey,
  takePlaceholder,
} from "./credentials.ts";
import type { ModelLanguage } from "./language.ts";
import { type MeterContext, MeteredRequest, NotAdmitted } from "./metered-request.ts";
import { leftError, leftStatus, logCause, refusalOf, toRefusal } from "./refusal.ts";
import { parseBody, readBody } from "./request-body.ts";
import { checkLoginTarget, loginTargetOf } from "./login-target.ts";
import { type Target, findEndpoint, readTarget, sentQuery } from "./route.ts";
import { sentHeaders } from "./sent-headers.ts";
import { type Upstreams, unavailable } from "./upstreams.ts";

export interface CallContext extends MeterContext {
  readonly upstreams: Upstreams;
  readonly keyOf: KeyOf;
}

interface Sent {
  readonly path: string;
  readonly body: Buffer | undefined;
}

export class ModelCall {
  readonly #context: CallContext;
  readonly #models: BoxModels;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #abort = new AbortController();
  #provider: ModelProvider | undefined;
  #language: ModelLanguage | undefined;
  #key: Key = noKey;
  #heldBytes = 0;
  #metered: MeteredRequest | undefined;
  #reader: AnswerReader | undefined;
  #status = 0;
  #wasSent = false;
  #hasAnswer = false;
  #isOver = false;

  constructor(context: CallContext, models: BoxModels, request: IncomingMessage, response: ServerResponse) {
    this.#context = context;
    this.#models = models;
    this.#request = request;
    this.#response = response;
    const untrack = models.track(() => this.#breakOff());
    response.once("close", () => {
      untrack();
      this.#clientClosed();
    });
  }

  async run(): Promise<void> {
    try {
      const target = readTarget(this.#models.spec, this.#request.url ?? "");
      this.#provider = target.provider;
      takePlaceholder(this.#request.rawHeaders, target.query);
      const sent = await this.#prepare(target);
      // The program may have left while the budget was asked.
      if (this.#abort.signal.aborted) return this.#clientClosed();
      this.#wasSent = true;
      const answer = await this.#send(target.provider, sent);
      this.#release();
      this.#receive(answer);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #prepare(target: Target): Promise<Sent> {
    const endpoint = findEndpoint(target, this.#request.method ?? "");
    const query = sentQuery(target);
    this.#key = await readKey(this.#models.box, target.provider, this.#context.keyOf);
    checkLoginTarget(target, this.#key);
    if (endpoint.kind === "look") return { path: target.path + query, body: undefined };
    const { language } = endpoint;
    this.#language = language;
    const { limits } = this.#context;
    const raw = await readBody(this.#request, {
      maxBytes: limits.requestBytes,
      hold: (bytes) => {
        this.#heldBytes += bytes;
        this.#models.hold(bytes);
      },
    });
    await this.#models.takeTurn(raw.length);
    if (this.#abort.signal.aborted) throw unavailable("the program has left");
    const { document: body, values } = parseBody(raw, this.#request.headers["content-encoding"], limits);
    this.#models.spendValues(values);
    const asking = { models: this.#models, language, path: target.path, body, bytes: raw.length };
    const { provider } = target;
    if (endpoint.kind === "count") {
      const counted = MeteredRequest.free({ ...asking, provider });
      return { path: counted.path + query, body: toBytes(counted.body) };
    }
    const metered = await MeteredRequest.admit(this.#context, { ...asking, provider }, this.#abort.signal);
    // Before anything else can fail: what was admitted is settled, or its reservation would stay for ever.
    this.#metered = metered;
    return { path: metered.path + query, body: toBytes(metered.body) };
  }

  #send(provider: ModelProvider, { path, body }: Sent): Promise<IncomingMessage> {
    const headers = keyedHeaders(sentHeaders(this.#request.rawHeaders), this.#key);
    const method = this.#request.method ?? "GET";
    const target = loginTargetOf(provider, path, this.#key);
    this.#key.sent?.();
    return this.#context.upstreams.send({ ...target, method, headers, body }, this.#abort.signal);
  }

  #receive(answer: IncomingMessage): void {
    const status = answer.statusCode ?? 502;
    answer.on("error", () => undefined);
    if (this.#response.destroyed) return void answer.destroy();
    if (status >= 300 && status < 400) {
      answer.destroy();
      // SECURITY: the target of a redirect has not been judged, and the key would go with it.
      throw unavailable("it wants the request to be sent elsewhere");
    }
    this.#status = status;
    this.#metered?.answered();
    this.#models.progressed();
    const timer = setTimeout(() => answer.destroy(), this.#context.limits.idleMs);
    answer.once("close", () => {
      clearTimeout(timer);
      if (!answer.complete) this.#fail(unavailable("the answer is not whole"));
    });
    if (status >= 400) this.#relayFailure(answer, timer);
    else this.#relay(answer, timer);
  }

  /** Back pressure is kept: never more in memory than one stream buffer. */
  #relay(answer: IncomingMessage, timer: NodeJS.Timeout): void {
    const response = this.#response;
    if (this.#metered !== undefined && this.#language !== undefined)
      this.#reader = readAnswer(this.#language, answer.headers, this.#context.limits.readBytes);
    this.#writeHead(answerHeaders(answer.rawHeaders, this.#key.value));
    response.flushHeaders();
    response.on("drain", () => answer.resume());
    answer.on("data", (chunk: Buffer) => {
      this.#hasAnswer = true;
      timer.refresh();
      this.#models.progressed();
      if (!response.write(chunk)) answer.pause();
      this.#reader?.push(chunk);
    });
    answer.once("end", () => {
      if (!answer.complete) return;
      this.#settle();
      response.end();
    });
  }

  /** Errors are small and told whole, because a vendor may repeat the key in them. */
  #relayFailure(answer: IncomingMessage, timer: NodeJS.Timeout): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.on("data", (chunk: Buffer) => {
      timer.refresh();
      bytes += chunk.length;
      if (bytes <= this.#context.limits.errorBytes) chunks.push(chunk);
      else answer.destroy();
    });
    answer.once("end", () => {
      if (!answer.complete) return;
      const isPacked = (answer.headers["content-encoding"] ?? "identity") !== "identity";
      const text = isPacked ? "" : maskKey(Buffer.concat(chunks).toString(), this.#key.value);
      this.#settle(this.#language === undefined ? undefined : readFailure(this.#language, text));
      const headers = answerHeaders(answer.rawHeaders, this.#key.value);
      const own = isPacked ? new Set(["content-length", "content-encoding", "content-type"]) : lengthOnly;
      const kept = headers.flatMap((name, i) =>
        i % 2 === 1 || own.has(name.toLowerCase()) ? [] : [name, headers[i + 1]!],
      );
      this.#writeHead([...kept, "content-length", String(Buffer.byteLength(text))]);
      this.#response.end(this.#request.method === "HEAD" ? undefined : text);
    });
  }

  #writeHead(headers: string[]): void {
    // The answer is the provider's: no Date of ours beside its own.
    this.#response.sendDate = false;
    this.#response.writeHead(this.#status, headers as OutgoingHttpHeader[]);
  }

  #settle(error?: string): void {
    this.#isOver = true;
    const learned = this.#reader?.end();
    // SECURITY: a program that stops reading makes the answer break off, and knows all but how it ends.
    const isHeldUp = learned?.isFinal !== true && this.#response.writableNeedDrain;
    const known = isHeldUp ? { ...learned, usage: undefined } : learned;
    this.#metered?.settle({ status: this.#status, hasAnswer: this.#hasAnswer, error }, known);
  }

  /** Something on our side or the provider's: told where nothing has been said yet, otherwise the connection breaks. */
  #fail(error: unknown): void {
    this.#release();
    if (this.#isOver) return;
    const refusal = toRefusal(error);
    logCause(this.#context.logger, this.#models.box, this.#provider, refusal);
    this.#status ||= refusal.status;
    const wasAsked = this.#metered !== undefined || error instanceof NotAdmitted;
    this.#settle(refusal.code);
    this.#abort.abort();
    if (this.#response.destroyed) return;
    if (this.#response.headersSent) return this.#breakOff();
    if (!wasAsked) this.#context.listener.refused(this.#models.box, refusal.code, refusal.message);
    this.#answer(refusal);
  }

  #answer(error: AgentBoxError): void {
    const { status, headers, body } = refusalOf(this.#provider?.api, error);
    const text = this.#request.method === "HEAD" ? "" : `${JSON.stringify(body)}\n`;
    // The rest of the request is not read, so the connection cannot carry another.
    const framing = ["content-length", String(Buffer.byteLength(text)), "connection", "close"];
    this.#response.writeHead(status, [...headers, ...framing] as OutgoingHttpHeader[]);
    this.#response.end(text);
    this.#request.resume();
  }

  /** The program went away: the provider is told, and what was admitted is settled. */
  #clientClosed(): void {
    this.#release();
    if (this.#isOver) return;
    this.#abort.abort();
    if (this.#metered === undefined) return;
    this.#isOver = true;
    const learned = this.#reader?.end();
    // SECURITY: a box that leaves before the last word would otherwise pay only for how an answer begins, or nothing.
    const known = learned?.isFinal === true ? learned : {};
    // Also between the head of the answer and its first word, or before both: the vendor is at work.
    const hasAnswer = this.#hasAnswer || (this.#wasSent && this.#status < 400);
    this.#metered.settle({ status: this.#status || leftStatus, hasAnswer, error: leftError }, known);
  }

  #breakOff(): void {
    this.#response.socket?.destroy();
    this.#response.destroy();
  }

  #release(): void {
    this.#models.release(this.#heldBytes);
    this.#heldBytes = 0;
  }
}

const lengthOnly: ReadonlySet<string> = new Set(["content-length"]);

/** SECURITY: what was read is what is sent: of a name that stands twice, one reader takes the first and one the last. */
const toBytes = (body: unknown): Buffer => Buffer.from(JSON.stringify(body));
