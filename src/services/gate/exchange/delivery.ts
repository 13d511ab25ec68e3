/**
 * Sends a judged request to its server with exactly the head that was prepared, and gives the program the answer. The
 * answer to a request with a secret passes only through its guard: head, body, trailers, hints and the bytes after an
 * upgrade.
 */
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import type { Duplex, Readable, Transform } from "node:stream";
import { isAgentBoxError, messageOf } from "../../../base/errors.ts";
import type { AddressException } from "../../../contract/network/policy.ts";
import { wasStale } from "../../../host/sockets/reusing-agent.ts";
import type { AnswerGuard } from "../../../ports/injection.ts";
import type { Sendable } from "../box/box-secrets.ts";
import type { Caller } from "../arrivals/caller.ts";
import { dialFailure, failureReason } from "../servers/connect.ts";
import { guardedHeaders, guardedTrailers, openAnswer } from "./guarded-answer.ts";
import { type Failure, misplaced, notHeld } from "./failure.ts";
import { type HeldBody, holdBody } from "./held-body.ts";
import type { GateLimits } from "../limits.ts";
import {
  type OutboundResponse,
  isGone,
  writeContinue,
  writeHints,
  writeServerHead,
} from "./outbound-response.ts";
import {
  type InboundRequest,
  type RequestHead,
  framingFields,
  hasArrivedWhole,
  toHttp2Headers,
  trailerFields,
  upgradeText,
} from "./request-head.ts";
import { joinSockets, openTunnel } from "../arrivals/tunnel.ts";
import { WebSocketProof } from "./websocket-proof.ts";

/* Moves the bytes of a body with back pressure: never more in memory than one stream buffer. */

/** The part of a stream that takes bytes; HTTP messages of both versions have it. */
interface Sink {
  write(chunk: Buffer): boolean;
  on(event: "drain", listener: () => void): unknown;
}

/** Moves bytes with back pressure and counts them; how it ends is the caller's business. */
function pump(source: Readable, sink: Sink, onBytes: (count: number) => void): void {
  let isWaiting = false;
  source.on("data", (chunk: Buffer) => {
    onBytes(chunk.length);
    if (sink.write(chunk)) return;
    source.pause();
    if (isWaiting) return;
    isWaiting = true;
    sink.on("drain", () => source.resume());
  });
}

export interface Target {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** The path and query as they were judged. */
  readonly path: string;
}

/** The program's own end of an upgrade: after it, the bytes are no longer HTTP. */
export interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

export interface Dispatch {
  readonly caller: Caller;
  readonly request: InboundRequest;
  readonly response: OutboundResponse;
  readonly upgrade: Upgrade | undefined;
  readonly head: RequestHead;
  readonly target: Target;
  readonly exception: AddressException | undefined;
  readonly prepared: Sendable;
  /** Looks for a method in the body. It has told by itself when it ends. */
  readonly form: Transform | undefined;
  /** Requests to this server are judged one by one, so none may hide in the body of another. */
  readonly isJudged: boolean;
  readonly limits: GateLimits;
}

export interface DeliveryEvents {
  /** The answer has been given whole. */
  readonly onAnswered: () => void;
  readonly onFailure: (failure: Failure) => void;
  /** The program gave its request up before the body was whole. */
  readonly onBrokenOff: () => void;
  /** Both ends of an upgraded connection are closed. */
  readonly onUpgradeEnd: (failure: Failure | undefined) => void;
}

export class Delivery {
  status: number | undefined;
  bytesOut = 0;
  bytesIn = 0;
  /** The head has been given to a connection to the server. */
  isSent = false;
  readonly #dispatch: Dispatch;
  readonly #events: DeliveryEvents;
  readonly #guard: AnswerGuard | undefined;
  readonly #isUpgrade: boolean;
  readonly #proof = new WebSocketProof();
  #headers: readonly string[];
  #upstream: ClientRequest | undefined;
  #held: HeldBody | undefined;
  #failure: Failure | undefined;
  #isCancelled = false;
  #endUpgraded: (() => void) | undefined;
  #forgetBody: () => void = () => undefined;

  constructor(dispatch: Dispatch, events: DeliveryEvents) {
    this.#dispatch = dispatch;
    this.#events = events;
    const { prepared, head, upgrade } = dispatch;
    this.#guard = prepared.outcome === "inject" ? prepared.answer : undefined;
    this.#headers = prepared.outcome === "inject" ? prepared.headers : head.headers;
    this.#isUpgrade = upgrade !== undefined && head.upgrade === "websocket";
  }

  get isUpgraded(): boolean {
    return this.#endUpgraded !== undefined;
  }

  start(): void {
    const { prepared } = this.#dispatch;
    if (prepared.outcome === "inject" && prepared.finish !== undefined) this.#hold(prepared.finish);
    else this.#send();
  }

  /** Ends what is under way at the server's end, and at both ends of an upgraded connection. */
  cancel(): void {
    this.#isCancelled = true;
    this.#endUpgraded?.();
    this.#upstream?.destroy();
    this.over();
  }

  /** Nothing more comes of the request: what was kept for it is forgotten. */
  over(): void {
    this.#forgetBody();
    this.#held?.release();
    this.#held = undefined;
  }

  #send(isRetry = false): void {
    const { head } = this.#dispatch;
    const upstream = this.#open();
    if (upstream === undefined) return;
    this.#upstream = upstream;
    upstream.on("socket", () => {
      this.isSent = true;
    });
    upstream.on("response", (answer) => this.#receive(answer));
    upstream.on("error", (error) => {
      // The server closed an idle connection just as we used it; nothing was answered, so it may be sent again.
      const mayRepeat = head.framing === "none" && idempotent.has(head.method);
      const isStale = wasStale(upstream, error) && mayRepeat && !isRetry && this.status === undefined;
      if (isStale && !this.#isCancelled && !isGone(this.#dispatch.response)) this.#send(true);
      else this.#serverFailed(error);
    });
    // Whose body is held has been told already.
    if (this.#held === undefined) upstream.on("continue", () => writeContinue(this.#dispatch.response));
    upstream.on("information", ({ statusCode, rawHeaders }) => this.#hint(statusCode, rawHeaders));
    upstream.on("upgrade", (answer, socket, rest) => {
      if (this.#isUpgrade && this.#proof.isGivenBy(answer)) return this.#join(answer, socket, rest);
      // Node reports only here that there will be no answer.
      socket.destroy();
      this.#serverFailed(noSwitch());
    });
    if (head.framing === "none") upstream.end();
    else if (this.#held !== undefined) upstream.end(this.#held.bytes);
    else this.#sendBody(upstream);
  }

  #open(): ClientRequest | undefined {
    const { caller, head, target, exception, prepared, isJudged } = this.#dispatch;
    const sent = this.#isUpgrade ? this.#proof.ask(this.#headers) : this.#headers;
    const headers = ["Host", head.authority, ...sent, ...framingFields(head)];
    if (this.#isUpgrade) headers.push("Connection", "Upgrade", "Upgrade", "websocket");
    // SECURITY: a server that answers without reading a body takes what it did not read for the next request.
    else if (isJudged && head.framing !== "none") headers.push("Connection", "close");
    try {
      return httpRequest({
        agent: caller.upstreams.agent({ ...target, exception }),
        method: head.method,
        path: prepared.outcome === "inject" ? prepared.path : target.path,
        headers,
        setHost: false,
      });
    } catch {
      // SECURITY: what Node says about a header or path that it does not take may have the value in it.
      this.#events.onFailure({ reason: prepared.outcome === "inject" ? "secret_unusable" : "malformed" });
      return undefined;
    }
  }

  /** The body as it is sent: looked at on its way for placeholders, and for a second word on the method. */
  #bodySource(): Readable {
    const { request, prepared, form } = this.#dispatch;
    const looks = [form, prepared.body].filter((one) => one !== undefined);
    return looks.reduce<Readable>((source, look) => {
      look.on("error", (error) => {
        source.unpipe(look);
        this.#events.onFailure(misplaced(error));
      });
      return source.pipe(look);
    }, request);
  }

  /** A body that stops coming ends its request; the result is refreshed by what comes. */
  #watchBody(): NodeJS.Timeout {
    const { requestBodyIdleMs } = this.#dispatch.limits;
    const timer = setTimeout(() => this.#events.onFailure({ reason: "limit" }), requestBodyIdleMs).unref();
    this.#forgetBody = () => clearTimeout(timer);
    return timer;
  }

  #sendBody(upstream: ClientRequest): void {
    upstream.flushHeaders();
    const { request, prepared, head } = this.#dispatch;
    const timer = this.#watchBody();
    const source = this.#bodySource();
    pump(source, upstream, (bytes) => {
      this.bytesOut += bytes;
      timer.refresh();
    });
    source.on("end", () => {
      clearTimeout(timer);
      if (!hasArrivedWhole(request, head, this.bytesOut)) return this.#brokeOff();
      // SECURITY: trailers are not searched for placeholders, so they end here wherever a search would be needed.
      const isLookedAt = prepared.body !== undefined || prepared.outcome === "inject";
      const trailers = isLookedAt ? [] : trailerFields(request.rawTrailers);
      if (trailers.length > 0) upstream.addTrailers(trailers);
      upstream.end();
    });
  }

  /** The head depends on the whole body, so the body is read before anything is sent. */
  #hold(finish: (body: Buffer) => readonly string[]): void {
    const { caller, head, request, response } = this.#dispatch;
    const send = (body: Buffer): void => {
      try {
        this.#headers = finish(body);
      } catch (error) {
        const isMisplaced = isAgentBoxError(error, "secret.misplaced");
        return this.#events.onFailure(isMisplaced ? misplaced(error) : { reason: "secret_unusable" });
      }
      this.#send();
    };
    if (head.framing === "none") return send(Buffer.alloc(0));
    const timer = this.#watchBody();
    if (request.headers.expect !== undefined) writeContinue(response);
    const giveUp = holdBody(this.#bodySource(), caller.egress.secrets.held, {
      onBytes: (bytes) => {
        this.bytesOut += bytes;
        timer.refresh();
      },
      onHeld: (held) => {
        clearTimeout(timer);
        this.#held = held;
        if (!hasArrivedWhole(request, head, held.bytes.length)) return this.#brokeOff();
        send(held.bytes);
      },
      onProblem: (problem) => this.#events.onFailure(notHeld(problem)),
    });
    this.#forgetBody = () => {
      clearTimeout(timer);
      giveUp();
    };
  }

  /** SECURITY: the end of a body that broke off is never written, or the server would take the beginning for all. */
  #brokeOff(): void {
    this.cancel();
    this.#events.onBrokenOff();
  }

  #receive(answer: IncomingMessage): void {
    const { response, upgrade } = this.#dispatch;
    if (isGone(response)) return void answer.destroy();
    answer.on("error", () => undefined);
    const head = openAnswer(answer, this.#guard);
    this.status = answer.statusCode;
    if (head === undefined) return this.#events.onFailure({ reason: "secret_in_answer" });
    answer.on("close", () => {
      if (answer.complete) return;
      head.body?.destroy();
      this.#serverFailed(undefined);
    });
    try {
      writeServerHead(response, head, upgrade !== undefined);
    } catch (error) {
      return this.#serverFailed(error);
    }
    head.body?.on("error", () => this.#events.onFailure({ reason: "secret_in_answer" }));
    const source = head.body === undefined ? answer : answer.pipe(head.body);
    pump(source, response, (bytes) => {
      this.bytesIn += bytes;
    });
    source.on("end", () => {
      if (answer.complete) this.#finish(answer);
    });
  }

  #finish(answer: IncomingMessage): void {
    const { response, request } = this.#dispatch;
    const trailers = guardedTrailers(answer, this.#guard);
    if (trailers.length > 0) response.addTrailers(toHttp2Headers(trailers));
    this.#events.onAnswered();
    response.end();
    // The server answered before it had read everything: the rest has no reader, so the connection ends with it.
    if (this.#upstream?.writableEnded === true) return;
    this.#upstream?.destroy();
    request.resume();
  }

  #hint(status: number, rawHeaders: readonly string[]): void {
    if (this.status === undefined)
      writeHints(this.#dispatch.response, status, guardedHeaders(rawHeaders, this.#guard));
  }

  /** A WebSocket: judged once as its GET, then passed through. */
  #join(answer: IncomingMessage, upstream: Duplex, rest: Buffer): void {
    const { response, upgrade, limits, prepared } = this.#dispatch;
    const { socket, head } = upgrade!;
    const server = upstream as Socket;
    const opened = openAnswer(answer, this.#guard);
    this.status = answer.statusCode;
    if (opened === undefined) {
      server.destroy();
      return this.#events.onFailure({ reason: "secret_in_answer" });
    }
    const before = { out: server.bytesWritten, in: server.bytesRead - rest.length };
    // The answer object is not what speaks on the socket from here on.
    response.removeAllListeners("close");
    if ("detachSocket" in response) response.detachSocket(socket as Socket);
    socket.write(upgradeText(this.#proof.answer(opened)), "latin1");
    if (rest.length > 0) server.unshift(rest);
    if (head.length > 0) socket.unshift(head);
    const count = (): void => {
      this.bytesOut = server.bytesWritten - before.out;
      this.bytesIn = server.bytesRead - before.in;
    };
    this.#endUpgraded = () => {
      count();
      server.destroy();
      socket.destroy();
    };
    prepared.body?.on("error", (error) => {
      this.#failure = misplaced(error);
    });
    joinSockets(socket, server, {
      idleMs: limits.idleMs,
      through: this.#guard?.stream(),
      onEnd: () => {
        count();
        this.#events.onUpgradeEnd(this.#failure);
      },
    });
    openTunnel(socket, server, prepared.body);
  }

  #serverFailed(error: unknown): void {
    const detail = error === undefined ? "The server broke off." : messageOf(error);
    this.#events.onFailure({ reason: failureReason(error), detail });
  }
}

const noSwitch = (): Error =>
  dialFailure("unreachable", "The server did not switch to the protocol that was asked for.");

/** Those that a server may get twice without doing more than once. */
const idempotent = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
