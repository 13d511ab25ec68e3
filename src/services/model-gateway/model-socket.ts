/**
 * OpenAI Responses over a WebSocket, ended on both sides: every `response.create` is a request of its own, checked,
 * admitted and settled like one over HTTP. The provider's frames pass as they are.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import type { ModelProvider } from "../../contract/model/api.ts";
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
import { checkShape } from "./body-shape.ts";
import { type JsonObject, isObject, parseJson } from "./json.ts";
import type { Learned } from "./language.ts";
import { MeteredRequest, NotAdmitted } from "./metered-request.ts";
import type { CallContext } from "./model-call.ts";
import { lastEvents, openAiResponses, signals } from "./openai-responses.ts";
import { ConnectFailure } from "./origin-agent.ts";
import {
  answerText,
  leftError,
  leftStatus,
  logCause,
  refusalEvent,
  refusalOf,
  toRefusal,
} from "./refusal.ts";
import { loginTargetOf } from "./login-target.ts";
import { readTarget, sentQuery } from "./route.ts";
import { sentHeaders } from "./sent-headers.ts";
import { unavailable } from "./upstreams.ts";

/** Codes of RFC 6455. */
const goingAway = 1001;
const policyViolation = 1008;
const serverError = 1011;

const path = "/v1/responses";

export class ModelSocket {
  readonly #context: CallContext;
  readonly #models: BoxModels;
  readonly #request: IncomingMessage;
  readonly #socket: Duplex;
  readonly #abort = new AbortController();
  readonly #waiting: Buffer[] = [];
  #provider: ModelProvider | undefined;
  #key: Key = noKey;
  #upstream: WebSocket | undefined;
  #client: WebSocket | undefined;
  #heldBytes = 0;
  #isBusy = false;
  #current: MeteredRequest | undefined;
  #learned: Learned = {};
  #hasAnswer = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: CallContext, models: BoxModels, request: IncomingMessage, socket: Duplex) {
    this.#context = context;
    this.#models = models;
    this.#request = request;
    this.#socket = socket;
    const untrack = models.track(() => socket.destroy());
    socket.once("close", () => {
      untrack();
      this.#close(goingAway);
    });
  }

  /** The provider is connected to first: its refusal (426: no WebSockets here) is for the program to see. */
  async run(head: Buffer): Promise<void> {
    try {
      const target = readTarget(this.#models.spec, this.#request.url ?? "");
      this.#provider = target.provider;
      takePlaceholder(this.#request.rawHeaders, target.query);
      if (target.provider.api !== "openai" || target.path !== path)
        throw new AgentBoxError("model.bad_request", "There is no WebSocket at this path.");
      this.#socket.once("close", this.#models.openSocket());
      const query = sentQuery(target);
      this.#key = await this.#findKey(target.provider);
      // The program may have left while the key was fetched.
      if (this.#abort.signal.aborted) return;
      this.#connect(target.provider, path + query, head);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #findKey(provider: ModelProvider): Promise<Key> {
    return readKey(this.#models.box, provider, this.#context.keyOf);
  }

  #connect(provider: ModelProvider, asked: string, head: Buffer): void {
    const { limits, upstreams } = this.#context;
    const sent = loginTargetOf(provider, asked, this.#key);
    const target = upstreams.target(sent.provider, sent.path);
    this.#key.sent?.();
    // The agent makes TLS where the provider's URL says so; to the library every provider is plain.
    const upstream = new WebSocket(`ws://${target.host}${target.path}`, {
      agent: target.agent,
      headers: {
        ...pairs(keyedHeaders(sentHeaders(this.#request.rawHeaders), this.#key)),
        host: target.host,
      },
      handshakeTimeout: limits.connectMs + limits.retryMs,
      maxPayload: limits.requestBytes,
      perMessageDeflate: false,
      followRedirects: false,
    });
    this.#upstream = upstream;
    upstream.on("error", (error) => {
      if (this.#client === undefined)
        this.#refuse(error instanceof ConnectFailure ? error : unavailable(messageOf(error)));
      else this.#close(serverError);
    });
    upstream.on("unexpected-response", (_, answer) => this.#passRefusal(answer));
    upstream.once("upgrade", (answer) => {
      upstream.once("open", () => this.#accept(answer, head));
    });
    upstream.on("close", () => this.#close(serverError));
    upstream.on("message", (data: Buffer, isBinary) => this.#receive(data, isBinary));
  }

  #accept(answer: IncomingMessage, head: Buffer): void {
    const { limits } = this.#context;
    const server = new WebSocketServer({
      noServer: true,
      maxPayload: limits.frameBytes,
      perMessageDeflate: false,
      // Offered protocols are for the provider; they were not passed on, so none is chosen.
      handleProtocols: () => false,
    });
    server.on("headers", (headers) => {
      const passed = answerHeaders(answer.rawHeaders, this.#key.value);
      for (let i = 0; i < passed.length; i += 2) headers.push(`${passed[i]}: ${passed[i + 1]}`);
    });
    server.handleUpgrade(this.#request, this.#socket, head, (client) => {
      this.#client = client;
      this.#arm(limits.socketIdleMs, goingAway);
      client.on("error", () => client.terminate());
      client.on("close", () => this.#close(goingAway));
      client.on("message", (data: Buffer, isBinary) => this.#ask(data, isBinary));
    });
  }

  /** One is answered at a time, as the provider does; what comes meanwhile waits in its order. */
  #ask(data: Buffer, isBinary: boolean): void {
    if (isBinary || this.#waiting.length >= this.#context.limits.socketQueue || !this.#hold(data.length))
      return this.#close(policyViolation);
    this.#pause(data.length);
    this.#handle(data);
  }

  #handle(data: Buffer): void {
    const frame = this.#parse(data);
    const type = isObject(frame) ? frame["type"] : undefined;
    if (typeof type === "string" && signals.has(type)) {
      this.#release(data.length);
      // Requests in progress end with the connection, and are counted as left.
      return type === "response.cancel" && this.#isBusy ? this.#close(goingAway) : undefined;
    }
    if (this.#isBusy) return void this.#waiting.push(data);
    this.#release(data.length);
    if (!isObject(frame) || type !== "response.create")
      return this.#tell(new AgentBoxError("model.bad_request", "The frame is not a response.create."));
    this.#isBusy = true;
    void this.#create(frame, data.length).catch((error: unknown) => this.#tell(error));
  }

  /** Undefined when it is no JSON, or larger than any request. */
  #parse(data: Buffer): unknown {
    try {
      this.#models.spendValues(checkShape(data, this.#context.limits));
    } catch {
      return undefined;
    }
    return parseJson(data.toString());
  }

  /** SECURITY: nothing more is read until this box's share of the daemon's time is there again. */
  #pause(bytes: number): void {
    const waitMs = this.#models.spend(bytes);
    const client = this.#client;
    if (waitMs === 0 || client === undefined || client.isPaused) return;
    client.pause();
    this.#context.clock.after(waitMs, () => {
      if (client.readyState === WebSocket.OPEN) client.resume();
    });
  }

  async #create({ type, ...body }: JsonObject, bytes: number): Promise<void> {
    const asking = {
      models: this.#models,
      provider: this.#provider!,
      language: openAiResponses,
      path,
      body,
      bytes,
    };
    // SECURITY: the connection was let in with a key that may have been taken back since; then it ends here, and a new
    // connection gets the keys in force.
    if ((await this.#findKey(asking.provider)).value !== this.#key.value) return this.#close(goingAway);
    const metered = await MeteredRequest.admit(this.#context, asking, this.#abort.signal);
    this.#learned = {};
    this.#hasAnswer = false;
    this.#current = metered;
    if (this.#abort.signal.aborted)
      return this.#settle({ status: leftStatus, error: leftError, hasAnswer: false });
    this.#arm(this.#context.limits.firstByteMs, serverError);
    this.#upstream?.send(JSON.stringify({ type, ...metered.body }));
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const client = this.#client;
    if (client === undefined) return;
    const { limits } = this.#context;
    client.send(data, { binary: isBinary }, () => {
      if (client.bufferedAmount < limits.socketBufferBytes) this.#upstream?.resume();
    });
    if (client.bufferedAmount >= limits.socketBufferBytes) this.#upstream?.pause();
    if (this.#current === undefined) return;
    this.#hasAnswer = true;
    this.#current.answered();
    this.#models.progressed();
    this.#arm(limits.idleMs, serverError);
    const event = readEvent(data);
    if (event === undefined) return;
    this.#learned = openAiResponses.learn(this.#learned, event);
    if (lastEvents.has(event["type"])) this.#finish(event["type"] === "error" ? event["status"] : undefined);
  }

  #finish(failure: unknown): void {
    const status = typeof failure === "number" ? failure : 200;
    this.#settle({ status, hasAnswer: status < 400 }, this.#learned);
    this.#next();
  }

  #next(): void {
    this.#isBusy = false;
    this.#arm(this.#context.limits.socketIdleMs, goingAway);
    const next = this.#waiting.shift();
    if (next !== undefined) this.#handle(next);
  }

  #hold(bytes: number): boolean {
    this.#heldBytes += bytes;
    try {
      this.#models.hold(bytes);
      return true;
    } catch {
      return false;
    }
  }

  #release(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#models.release(bytes);
  }

  /** Refuses one request; the connection stays for the next. */
  #tell(error: unknown): void {
    if (this.#abort.signal.aborted) return;
    const refusal = toRefusal(error);
    this.#settle({ status: refusal.status, error: refusal.code, hasAnswer: false });
    if (!(error instanceof NotAdmitted))
      this.#context.listener.refused(this.#models.box, refusal.code, refusal.message);
    if (this.#client?.readyState === WebSocket.OPEN) this.#client.send(refusalEvent(refusal));
    this.#next();
  }

  /** Before anything was answered: the upgrade itself is refused. */
  #refuse(error: unknown): void {
    const refusal = toRefusal(error);
    if (this.#socket.destroyed || this.#client !== undefined) return;
    logCause(this.#context.logger, this.#models.box, this.#provider, refusal);
    this.#context.listener.refused(this.#models.box, refusal.code, refusal.message);
    const { status, headers, body } = refusalOf(this.#provider?.api, refusal);
    this.#socket.end(answerText(status, headers, `${JSON.stringify(body)}\n`));
  }

  #passRefusal(answer: IncomingMessage): void {
    const status = answer.statusCode ?? 502;
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.on("error", () => undefined);
    answer.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= this.#context.limits.errorBytes) chunks.push(chunk);
      else answer.destroy();
    });
    answer.once("close", () => {
      // Neither a WebSocket nor a refusal; the target of a redirect has not been judged.
      if (status < 400 || !answer.complete) return this.#refuse(unavailable(`it answered ${status}`));
      const text = maskKey(Buffer.concat(chunks).toString(), this.#key.value);
      const kept = answerHeaders(answer.rawHeaders, this.#key.value).filter(
        (_, i, all) => all[i - (i % 2)]!.toLowerCase() !== "content-length",
      );
      if (!this.#socket.destroyed) this.#socket.end(answerText(status, kept, text));
      this.#upstream = undefined;
    });
  }

  #settle(outcome: { status: number; hasAnswer: boolean; error?: string }, learned?: Learned): void {
    this.#current?.settle(outcome, learned);
    this.#current = undefined;
  }

  #arm(ms: number, code: number): void {
    clearTimeout(this.#timer);
    if (this.#abort.signal.aborted) return;
    this.#timer = setTimeout(() => {
      if (code === serverError) this.#client?.send(refusalEvent(unavailable("it stopped answering")));
      this.#close(code);
    }, ms);
  }

  /** Both sides end, once; what is under way is settled. */
  #close(code: number): void {
    clearTimeout(this.#timer);
    if (this.#abort.signal.aborted) return;
    this.#abort.abort();
    this.#release(this.#heldBytes);
    // The box left, or did what ends its connection, which must not be cheaper.
    const isOurs = code !== serverError;
    const error = isOurs ? leftError : "model.unavailable";
    // SECURITY: a box that leaves before the last word would otherwise pay only for how an answer begins.
    const known = this.#learned.isFinal === true || !isOurs ? this.#learned : {};
    this.#settle({ status: isOurs ? leftStatus : 502, hasAnswer: this.#hasAnswer || isOurs, error }, known);
    this.#upstream?.on("error", () => undefined);
    this.#upstream?.terminate();
    if (this.#client === undefined) return;
    this.#client.close(code);
    // A program that does not close its side gets no more time than a connect.
    const end = setTimeout(() => this.#client?.terminate(), this.#context.limits.connectMs);
    this.#client.once("close", () => clearTimeout(end));
  }
}

const eventMarkers = [...openAiResponses.early, ...openAiResponses.late];

/** Frames that say nothing about usage or the end are not parsed. */
function readEvent(data: Buffer): JsonObject | undefined {
  if (!eventMarkers.some((marker) => data.includes(marker))) return undefined;
  const event = parseJson(data.toString());
  return isObject(event) ? event : undefined;
}

function pairs(headers: readonly string[]): Record<string, string> {
  const result: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) result[headers[i]!] = headers[i + 1]!;
  return result;
}
