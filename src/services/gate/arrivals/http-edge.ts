/**
 * Where programs' HTTP arrives: HTTP/1.1 and HTTP/2, plain or out of TLS, as a proxy or as the server itself. Nothing
 * listens: sockets come over the links of boxes. Heads that break a limit or have no one reading end here.
 */
import { type IncomingMessage, ServerResponse, createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { systemCode } from "../../../base/errors.ts";
import type { DenyReason } from "../../../contract/network/policy.ts";
import { type Caller, markSocket, readCaller } from "./caller.ts";
import { denialText } from "../exchange/denial.ts";
import { Exchange } from "../exchange/exchange.ts";
import type { LeafContexts } from "../certificates/leaf-contexts.ts";
import type { GateLimits } from "../limits.ts";
import type { OutboundResponse } from "../exchange/outbound-response.ts";
import type { InboundRequest } from "../exchange/request-head.ts";

/** `userAgent` is the word of the program for itself, or empty. */
export type AcceptConnect = (
  caller: Caller,
  connect: { readonly authority: string; readonly userAgent: string },
  socket: Duplex,
) => void;

export interface HttpEdgeOptions {
  readonly limits: GateLimits;
  readonly leaves: LeafContexts;
  /** A CONNECT to the proxy; the socket is the program's, with nothing answered yet. */
  readonly onConnect: AcceptConnect;
}

export class HttpEdge {
  readonly #options: HttpEdgeOptions;
  readonly #http1: ReturnType<typeof createServer>;
  readonly #http2: ReturnType<typeof createHttp2Server>;

  constructor(options: HttpEdgeOptions) {
    this.#options = options;
    this.#http1 = this.#openHttp1();
    this.#http2 = this.#openHttp2();
  }

  /** Reads HTTP/1.1 from a socket; what was put back into it is read first. */
  accept(socket: Duplex, caller: Caller): void {
    markSocket(socket, caller);
    this.#readHttp1(socket, caller);
  }

  /** Answers a TLS client as the server it meant, with a certificate for `name`. */
  acceptTls(socket: Duplex, name: string, caller: Caller, onFailed: (reason: DenyReason) => void): void {
    const { pace } = caller.egress;
    pace.spend("handshake");
    pace.whenFree(() => {
      if (!socket.destroyed) this.#shakeHands(socket, name, caller, onFailed);
    });
  }

  #shakeHands(socket: Duplex, name: string, caller: Caller, onFailed: (reason: DenyReason) => void): void {
    const secure = new TLSSocket(socket, {
      isServer: true,
      secureContext: this.#options.leaves.get(name),
      ALPNProtocols: ["h2", "http/1.1"],
    });
    const timer = setTimeout(() => fail("limit"), this.#options.limits.handshakeMs);
    const fail = (reason: DenyReason): void => {
      clearTimeout(timer);
      secure.off("secure", start).off("error", refused).off("close", refused);
      secure.on("error", () => undefined);
      secure.destroy();
      socket.destroy();
      onFailed(reason);
    };
    const refused = (): void => fail("not_inspectable");
    const start = (): void => {
      clearTimeout(timer);
      secure.off("error", refused).off("close", refused);
      secure.on("error", () => secure.destroy());
      markSocket(secure, caller);
      // tls.Server does this for its own sockets; without it HTTP/2 waits for an event that only clients get.
      Object.assign(secure, { secureConnecting: false });
      if (secure.alpnProtocol !== "h2") return this.#readHttp1(secure, caller);
      // HTTP/2 has no half-closed connections: without this, one that its program has left would count until it is idle too long.
      secure.once("end", () => secure.destroy());
      this.#http2.emit("connection", secure);
    };
    secure.once("secure", start).on("error", refused).on("close", refused);
  }

  /** One that waits unread costs nothing, and a box has only so many connections. */
  #readHttp1(socket: Duplex, { egress }: Caller): void {
    const read = (): void => {
      if (socket.destroyed) return;
      this.#http1.emit("connection", socket);
      egress.pace.add(socket);
    };
    egress.pace.whenFree(read);
  }

  close(): void {
    this.#http1.close(() => undefined);
    this.#http2.close(() => undefined);
  }

  #openHttp1(): ReturnType<typeof createServer> {
    const { limits } = this.#options;
    const server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: 0,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
      requireHostHeader: false,
      noDelay: true,
    });
    server.on("request", (request, response) => this.#exchange(request, response));
    server.on("checkContinue", (request, response) => this.#exchange(request, response));
    server.on("connect", (request, socket, head) => this.#connect(request, socket, head));
    server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    server.on("clientError", (error, socket) => this.#broken(error, socket));
    // Node starts to watch header times when a server listens, and this one never does.
    server.emit("listening");
    return server;
  }

  #openHttp2(): ReturnType<typeof createHttp2Server> {
    const { limits } = this.#options;
    const server = createHttp2Server({
      maxSessionMemory: 4,
      settings: { maxConcurrentStreams: 100, maxHeaderListSize: limits.headerBytes, enablePush: false },
      unknownProtocolTimeout: limits.handshakeMs,
    });
    server.on("request", (request, response) => this.#exchange(request, response));
    server.on("checkContinue", (request, response) => this.#exchange(request, response));
    server.on("connect", (request: InboundRequest, response: OutboundResponse) =>
      this.#exchange(request, response),
    );
    server.on("session", (session) => {
      const caller = readCaller(session.socket);
      session.setTimeout(limits.keepAliveMs, () => {
        if (caller === undefined || caller.active === 0) session.close();
      });
      session.on("error", (error) => {
        if (caller?.active === 0 && !hasLeft(error)) recordBroken(caller, "malformed");
      });
    });
    server.on("sessionError", () => undefined);
    return server;
  }

  #exchange(request: InboundRequest, response: OutboundResponse): void {
    const caller = readCaller(request.socket);
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    if (caller === undefined) return void request.socket.destroy();
    const { pace } = caller.egress;
    const { limits } = this.#options;
    // SECURITY: one piece of bytes can hold thousands of requests, and Node hands over all of them in one turn.
    const isDropped = !("stream" in request) && caller.active >= limits.pipelinedRequests;
    pace.spend(isDropped ? "dropped" : "request");
    if (isDropped) return this.#drop(caller, request.socket);
    const exchange = () => void new Exchange(caller, request, response, limits).run();
    // A connection with HTTP/1.1 is not read while its box is ahead of its time; of HTTP/2 the requests wait.
    if (!("stream" in request)) return exchange();
    const isTaken = pace.takeTurn(() => {
      if (!request.destroyed) exchange();
    });
    if (!isTaken) this.#drop(caller, request.stream.session);
  }

  #drop(caller: Caller, connection: { readonly destroyed: boolean; destroy(): void } | undefined): void {
    if (connection === undefined || connection.destroyed) return;
    recordBroken(caller, "limit");
    connection.destroy();
  }

  #connect(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const caller = readCaller(socket);
    caller?.egress.pace.remove(socket);
    socket.on("error", () => undefined);
    // SECURITY: inside a connection to a server, a CONNECT would be a tunnel without a judgement. Behind a request that
    // is still being answered, that answer would end up in the tunnel.
    const isTunnel = caller?.target !== undefined || caller?.refusal !== undefined;
    if (caller === undefined || isTunnel || caller.active > 0) {
      if (caller) recordBroken(caller, "malformed", "CONNECT");
      socket.destroy();
      return;
    }
    if (head.length > 0) socket.unshift(head);
    const { url: authority = "", headers } = request;
    this.#options.onConnect(caller, { authority, userAgent: headers["user-agent"] ?? "" }, socket);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const caller = readCaller(socket);
    caller?.egress.pace.remove(socket);
    socket.on("error", () => undefined);
    const hasBody = request.headers["content-length"] !== undefined || "transfer-encoding" in request.headers;
    // Node has stopped reading HTTP on this socket, so a body could no longer be told from what follows it.
    // SECURITY: while a request before it is being answered, Node throws at a second answer on the socket.
    if (caller === undefined || hasBody || caller.active > 0) {
      if (caller) recordBroken(caller, "malformed");
      socket.destroy();
      return;
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.on("finish", () => socket.end());
    void new Exchange(caller, request, response, this.#options.limits, { socket, head }).run();
  }

  #broken(error: Error, socket: Duplex): void {
    const caller = readCaller(socket);
    const code = systemCode(error) ?? "";
    const isGone = hasLeft(error) || !socket.writable;
    if (caller === undefined || isGone || caller.active > 0) return void socket.destroy();
    const isLimit = code === "HPE_HEADER_OVERFLOW" || code === "ERR_HTTP_REQUEST_TIMEOUT";
    const reason = isLimit ? "limit" : "malformed";
    recordBroken(caller, reason);
    const { target, egress } = caller;
    const denial = {
      box: egress.box.name,
      host: target?.host ?? "",
      port: target?.port ?? 0,
      reason,
    } as const;
    socket.end(denialText(denial), () => socket.destroy());
  }
}

/** A program that hung up has said nothing wrong: what it asked before has its record. */
const hasLeft = (error: unknown): boolean => ["ECONNRESET", "EPIPE"].includes(systemCode(error) ?? "");

function recordBroken(caller: Caller, reason: DenyReason, method?: string): void {
  const { via, program, target, egress } = caller;
  // A refused connection has its record already.
  if (caller.refusal !== undefined) return;
  egress.record({ via, program, host: target?.host ?? "", port: target?.port ?? 0, method, reason });
}
