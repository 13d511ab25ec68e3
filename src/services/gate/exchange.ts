/**
 * One request that the gate reads: judged on its own, sent on with exactly the bytes that were judged, answered with
 * exactly what the server said, and recorded once. Bodies are streamed both ways and never kept.
 */
import {
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
  request as httpRequest,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "../../base/errors.ts";
import type { DenyReason } from "../../contract/network/policy.ts";
import type { InternalHost } from "../../ports/gate.ts";
import { namesTarget, parseAbsoluteTarget, parseAuthority } from "./authority.ts";
import { type Decision, type Settled, withoutQuery } from "./box-egress.ts";
import type { Caller } from "./caller.ts";
import type { Denial } from "./denial.ts";
import { failureReason } from "./dialer.ts";
import { type VisitCount, visitHost } from "./internal-visit.ts";
import type { GateLimits } from "./limits.ts";
import { type OutboundResponse, writeDenial, writeHints, writeServerHead } from "./outbound-response.ts";
import { pump } from "./pump.ts";
import {
  type InboundRequest,
  type RequestHead,
  answerHeaders,
  hasOneReading,
  readRequestHead,
  toHttp2Headers,
  trailerFields,
  upgradeText,
} from "./request-head.ts";
import { joinSockets, openTunnel } from "./tunnel.ts";

type Allowed = Extract<Settled, { outcome: "allow" }>;

interface Target {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** The path and query as they are sent on. */
  readonly path: string;
}

/** The program's own end of an upgrade: after it, the bytes are no longer HTTP. */
export interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

export class Exchange {
  readonly #caller: Caller;
  readonly #request: InboundRequest;
  readonly #response: OutboundResponse;
  readonly #limits: GateLimits;
  readonly #upgrade: Upgrade | undefined;
  readonly #startedMs: number;
  #question: AbortController | undefined;
  #head: RequestHead | undefined;
  #target: Target | undefined;
  #settled: Allowed | undefined;
  #upstream: ClientRequest | undefined;
  /** An internal host answers, and this is what has passed. */
  #visit: (() => VisitCount) | undefined;
  #untrack: () => void = () => undefined;
  #cancelBodyTimer: () => void = () => undefined;
  #bytesOut = 0;
  #bytesIn = 0;
  #status: number | undefined;
  #isRecorded = false;
  /** Ends both ends of an upgraded connection, which no longer belong to request and answer. */
  #endUpgraded: (() => void) | undefined;

  constructor(
    caller: Caller,
    request: InboundRequest,
    response: OutboundResponse,
    limits: GateLimits,
    upgrade?: Upgrade,
  ) {
    this.#caller = caller;
    this.#request = request;
    this.#response = response;
    this.#limits = limits;
    this.#upgrade = upgrade;
    this.#startedMs = caller.egress.nowMs;
    caller.active += 1;
    response.on("close", () => this.#clientClosed());
  }

  async run(): Promise<void> {
    const { refusal } = this.#caller;
    if (refusal) return this.#answer({ ...refusal, method: this.#request.method });
    const denied = this.#read();
    // What cannot be read counts as well: over HTTP/2 it would otherwise come without end.
    if (!this.#caller.egress.admitRequest(this.#decision())) {
      this.#isRecorded = true;
      return this.#answer(this.#denial("limit"));
    }
    if (denied !== undefined) return this.#deny(denied);
    const { egress, program, wasApproved } = this.#caller;
    const judged = egress.settle(this.#judgedRequest(), program, {
      wasApproved,
      signal: () => (this.#question = new AbortController()).signal,
    });
    // Only a question to a person waits; every other request goes on in the same turn.
    const settled = judged instanceof Promise ? await judged : judged;
    if (this.#response.destroyed) return this.#record("not_approved");
    if (settled.outcome === "deny") return this.#deny(settled.reason, settled);
    if (settled.mustInspect && !hasOneReading(this.#target!.path)) return this.#deny("malformed", settled);
    this.#settled = settled;
    this.#untrack = egress.track({
      request: this.#judgedRequest(),
      isInspected: true,
      wasApproved: settled.wasApproved || wasApproved,
      exception: settled.exception,
      close: (reason) => this.#abort(reason),
    });
    const internal = egress.internalHost(settled.host);
    // SECURITY: a name of the gate's own is never looked up outside, however the program speaks.
    if (internal === undefined) this.#send();
    else if ("stream" in this.#request || "stream" in this.#response) this.#deny("not_http", settled);
    else this.#serve(internal, this.#request, this.#response);
  }

  #serve(host: InternalHost, request: IncomingMessage, response: ServerResponse): void {
    const { box } = this.#caller.egress;
    const upgrade = this.#upgrade;
    // Whoever serves it sees the path that was judged, also when the program spoke to us as to a proxy.
    request.url = this.#target!.path;
    const timer = this.#watchBody();
    request.on("end", () => clearTimeout(timer));
    if (upgrade !== undefined) this.#endUpgraded = () => upgrade.socket.destroy();
    this.#visit = visitHost(
      host,
      { box, request, response, upgrade },
      {
        onRequestBytes: () => timer.refresh(),
        onUpgradeEnd: () => {
          this.#record();
          this.#over();
        },
      },
    );
    if (upgrade !== undefined) clearTimeout(timer);
  }

  /** A body that stops coming ends its request; the result is refreshed by what comes. */
  #watchBody(): NodeJS.Timeout {
    const timer = setTimeout(() => this.#abort("limit"), this.#limits.requestBodyIdleMs).unref();
    this.#cancelBodyTimer = () => clearTimeout(timer);
    return timer;
  }

  /** Head and target, or why they cannot be taken. */
  #read(): DenyReason | undefined {
    const head = readRequestHead(this.#request);
    if (typeof head === "string") return head;
    this.#head = head;
    const { target } = this.#caller;
    if (target === undefined) {
      const named = parseAbsoluteTarget(head.target);
      if (named === undefined) return "malformed";
      this.#target = { scheme: "http", ...named };
    } else {
      if (!head.target.startsWith("/") && !(head.target === "*" && head.method === "OPTIONS"))
        return "malformed";
      this.#target = { ...target, path: head.target };
    }
    return namesTarget(head.authority, this.#target) ? undefined : "name_mismatch";
  }

  #judgedRequest(): { host: string; port: number; method: string; path: string } {
    const { host, port, path } = this.#target!;
    return { host, port, method: this.#head!.method, path };
  }

  #send(isRetry = false): void {
    const head = this.#head!;
    const target = this.#target!;
    const isUpgrade = this.#upgrade !== undefined && head.upgrade === "websocket";
    const headers = ["Host", head.authority, ...head.headers];
    if (head.framing === "chunked") headers.push("Transfer-Encoding", "chunked");
    if (isUpgrade) headers.push("Connection", "Upgrade", "Upgrade", "websocket");
    const upstream = httpRequest({
      agent: this.#caller.upstreams.agent({ ...target, exception: this.#settled?.exception }),
      method: head.method,
      path: target.path,
      headers,
      setHost: false,
    });
    this.#upstream = upstream;
    upstream.on("response", (answer) => this.#receive(answer));
    upstream.on("error", (error) => {
      // The server closed an idle connection just as we used it; nothing was answered, so it may be sent again.
      const isStale =
        upstream.reusedSocket && head.framing === "none" && !isRetry && this.#status === undefined;
      if (isStale && !this.#isRecorded && !this.#response.destroyed) this.#send(true);
      else this.#fail(error);
    });
    upstream.on("continue", () => this.#response.writeContinue());
    upstream.on("information", ({ statusCode, rawHeaders }) => {
      if (this.#status === undefined) writeHints(this.#response, statusCode, rawHeaders);
    });
    upstream.on("upgrade", (answer, socket, rest) => {
      if (isUpgrade) return this.#join(answer, socket, rest);
      // Nobody asked for another protocol, and Node tells nobody else that there will be no answer.
      socket.destroy();
      this.#fail(undefined);
    });
    if (head.framing === "none") upstream.end();
    else this.#sendBody(upstream);
  }

  #sendBody(upstream: ClientRequest): void {
    upstream.flushHeaders();
    const request = this.#request;
    const timer = this.#watchBody();
    pump(request, upstream, (bytes) => {
      this.#bytesOut += bytes;
      timer.refresh();
    });
    request.on("end", () => {
      clearTimeout(timer);
      const trailers = trailerFields(request.rawTrailers);
      if (trailers.length > 0) upstream.addTrailers(trailers);
      upstream.end();
    });
  }

  #receive(answer: IncomingMessage): void {
    const response = this.#response;
    if (response.destroyed) return void answer.destroy();
    this.#status = answer.statusCode ?? 502;
    const headers = answerHeaders(answer.rawHeaders);
    answer.on("error", () => undefined);
    answer.on("close", () => {
      if (!answer.complete) this.#fail(undefined);
    });
    try {
      const message = answer.statusMessage ?? "";
      writeServerHead(response, { status: this.#status, message, headers }, this.#upgrade !== undefined);
    } catch (error) {
      return this.#fail(error);
    }
    pump(answer, response, (bytes) => {
      this.#bytesIn += bytes;
    });
    answer.on("end", () => {
      if (!answer.complete) return;
      const trailers = trailerFields(answer.rawTrailers);
      if (trailers.length > 0) response.addTrailers(toHttp2Headers(trailers.flat()));
      this.#record();
      response.end();
      this.#finishUpload();
    });
  }

  /** The server answered before it had read everything: the rest has no reader, so the connection ends with it. */
  #finishUpload(): void {
    if (this.#head?.framing === "none" || this.#request.readableEnded) return;
    this.#request.resume();
  }

  /** A WebSocket: judged once as its GET, then passed through. */
  #join(answer: IncomingMessage, upstream: Duplex, rest: Buffer): void {
    const { socket, head } = this.#upgrade!;
    this.#status = answer.statusCode ?? 101;
    const server = upstream as Socket;
    const before = { out: server.bytesWritten, in: server.bytesRead - rest.length };
    // The answer object is not what speaks on the socket from here on.
    this.#response.removeAllListeners("close");
    if ("detachSocket" in this.#response) this.#response.detachSocket(socket as Socket);
    socket.write(upgradeText(answer), "latin1");
    if (rest.length > 0) server.unshift(rest);
    if (head.length > 0) socket.unshift(head);
    const count = (): void => {
      this.#bytesOut = server.bytesWritten - before.out;
      this.#bytesIn = server.bytesRead - before.in;
    };
    this.#endUpgraded = () => {
      count();
      server.destroy();
      socket.destroy();
    };
    joinSockets(socket, server, {
      idleMs: this.#limits.idleMs,
      onEnd: () => {
        count();
        this.#record();
        this.#over();
      },
    });
    openTunnel(socket, server);
  }

  #deny(reason: DenyReason, settled?: Settled): void {
    this.#record(reason, settled);
    this.#answer({ ...this.#denial(reason), rule: settled?.rule });
  }

  /** A policy that changed, or a limit: what is under way ends here. */
  #abort(reason?: DenyReason): void {
    this.#endUpgraded?.();
    this.#record(reason);
    if (this.#endUpgraded) return;
    this.#upstream?.destroy();
    // An internal host may be about to answer itself, and must not find its answer taken.
    const isTaken = this.#visit !== undefined || this.#response.headersSent;
    if (reason === undefined || isTaken) this.#destroyClient();
    else this.#answer(this.#denial(reason));
  }

  #fail(error: unknown): void {
    if (this.#isRecorded) return;
    const reason = failureReason(error);
    this.#record(reason);
    this.#upstream?.destroy();
    if (this.#response.headersSent) return this.#destroyClient();
    const detail = error === undefined ? "The server broke off." : messageOf(error);
    this.#answer({ ...this.#denial(reason), detail });
  }

  #destroyClient(): void {
    if ("stream" in this.#response) this.#response.stream.close();
    else (this.#upgrade?.socket ?? this.#response.socket)?.destroy();
  }

  #answer(denial: Denial): void {
    writeDenial(this.#request, this.#response, denial);
  }

  #denial(reason: DenyReason): Denial {
    const { host, port, method, path } = this.#decision();
    return {
      box: this.#caller.egress.box.name,
      host,
      port,
      method,
      path: path === undefined ? undefined : withoutQuery(path),
      reason,
      rule: this.#settled?.rule,
    };
  }

  #decision(): Decision {
    const { via, program } = this.#caller;
    const target = this.#target ?? this.#caller.target ?? parseAuthority(this.#head?.authority ?? "", 80);
    return {
      via,
      program,
      host: target?.host ?? "",
      port: target?.port ?? 0,
      method: this.#head?.method ?? this.#request.method,
      // SECURITY: a target that could not be read may hold a password before its host.
      path: this.#target?.path,
      startedMs: this.#startedMs,
    };
  }

  #record(reason?: DenyReason, settled?: { rule?: Settled["rule"] }): void {
    if (this.#isRecorded) return;
    this.#isRecorded = true;
    this.#untrack();
    this.#caller.egress.record({
      ...this.#decision(),
      reason,
      rule: settled?.rule ?? this.#settled?.rule,
      wasApproved: this.#settled?.wasApproved,
      bytesOut: this.#bytesOut,
      bytesIn: this.#bytesIn,
      status: this.#status,
      ...this.#visit?.(),
    });
  }

  #clientClosed(): void {
    this.#question?.abort();
    if (this.#settled !== undefined && !this.#isRecorded) {
      this.#upstream?.destroy();
      this.#record();
    }
    this.#over();
  }

  #over(): void {
    this.#cancelBodyTimer();
    this.#untrack();
    this.#caller.active -= 1;
  }
}
