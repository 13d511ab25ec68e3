/**
 * One connection from a program to a name and port: judged, then read, joined or refused. The name in the TLS hello
 * and the Host of every plain request must be the name that was judged.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "../../../base/errors.ts";
import type { RelayBuffers } from "../../../base/relay-buffers.ts";
import { canonicalHost, hostText } from "../../../contract/network/host-name.ts";
import type { DenyReason, NetworkRule } from "../../../contract/network/policy.ts";
import { isSameName } from "./authority.ts";
import type { BoxEgress, Decision, Settled } from "../box/box-egress.ts";
import type { Caller } from "./caller.ts";
import { type Denial, denialLine, denialText } from "../exchange/denial.ts";
import { refuseInItsProtocol } from "../exchange/other-protocols.ts";
import { dialFailure, failureReason } from "../servers/connect.ts";
import type { Dial } from "../servers/dialer.ts";
import { type Heard, type Speech, hearFirstBytes } from "./first-bytes.ts";
import type { HttpEdge } from "./http-edge.ts";
import type { GateLimits } from "../limits.ts";
import { joinSockets, openTunnel } from "./tunnel.ts";
import type { Upstreams } from "../servers/upstreams.ts";

type Allowed = Extract<Settled, { outcome: "allow" }>;

export interface PassageContext {
  readonly egress: BoxEgress;
  readonly upstreams: Upstreams;
  readonly edge: HttpEdge;
  readonly dial: Dial;
  readonly limits: GateLimits;
  readonly buffers: RelayBuffers;
}

export interface PassageRequest {
  readonly client: Duplex;
  readonly via: "tcp" | "proxy";
  readonly program: string | undefined;
  readonly host: string;
  readonly port: number;
  /** The name that a program of the proxy gives itself. */
  readonly userAgent?: string | undefined;
}

/**
 * Programs on libcurl print no more of a refused CONNECT than its number. They get the refusal from inside the tunnel, as
 * the answer to their own request; all others show the reason phrase or the body of the answer to CONNECT.
 */
const hidesAnswerToConnect = /^(?:curl|git|cargo|libcurl)[/ ]/i;

export class Passage {
  readonly #context: PassageContext;
  readonly #request: PassageRequest;
  readonly #startedMs: number;
  #settled: Allowed | undefined;
  #isRecorded = false;
  #closedFor: DenyReason | undefined;

  constructor(context: PassageContext, request: PassageRequest) {
    this.#context = context;
    this.#request = request;
    this.#startedMs = context.egress.nowMs;
  }

  async run(): Promise<void> {
    const { client, host, port, program, via } = this.#request;
    const settled = await this.#context.egress.settle({ host, port }, program);
    if (client.destroyed)
      return settled.outcome === "deny" ? this.#record(settled.reason, settled.rule) : undefined;
    if (settled.outcome === "deny") return await this.#refuse(settled.reason, settled);
    this.#settled = settled;
    if (settled.mustInspect || this.#isInternal) return await this.#inspect();
    return via === "proxy" ? await this.#dialThenListen() : await this.#listenThenDial();
  }

  /** Requests must be read: anything but HTTP, plain or in TLS, does not pass. */
  async #inspect(): Promise<void> {
    this.#confirmConnect();
    const heard = await hearFirstBytes(this.#request.client, { limits: this.#context.limits });
    const speech = this.#speechOf(heard);
    if (speech === undefined) return;
    if (speech.kind === "http") return this.#handOver("http");
    if (speech.kind !== "tls") return this.#close(speech.kind === "malformed" ? "malformed" : "not_http");
    const { serverName } = speech;
    // Part of the gate itself, in plain HTTP: there is no way on which TLS would protect anything.
    if (this.#isInternal) return this.#close("not_http");
    if (serverName === undefined) return this.#close("not_inspectable");
    if (!this.#isJudgedName(serverName)) return this.#close("name_mismatch");
    this.#handOver("https");
  }

  /** A program that connects directly: most speak first, and then there is nothing to dial for if it is HTTP. */
  async #listenThenDial(): Promise<void> {
    const { limits } = this.#context;
    const heard = await hearFirstBytes(this.#request.client, { limits, silenceMs: limits.silenceMs });
    if (heard.kind === "silent") return await this.#dialThenListen();
    const speech = this.#speechOf(heard);
    if (speech === undefined || !this.#mayPass(speech)) return;
    const upstream = await this.#connect();
    if (upstream === undefined) return;
    this.#join(upstream);
    openTunnel(this.#request.client, upstream);
  }

  /** The server may speak first; what the program says first is looked at all the same, whenever it comes. */
  async #dialThenListen(): Promise<void> {
    const { client } = this.#request;
    const upstream = await this.#connect();
    if (upstream === undefined) return;
    this.#confirmConnect();
    const leave = this.#join(upstream);
    const heard = await hearFirstBytes(client, { limits: this.#context.limits, isPatient: true });
    if (heard.kind === "closed" && heard.bytes.length === 0) {
      // It only listens; the server's words go on.
      if (!upstream.destroyed) upstream.end();
      return;
    }
    if (heard.kind === "speech" && heard.speech.kind === "http" && upstream.bytesRead === 0) {
      leave();
      return this.#handOver("http");
    }
    const speech = this.#speechOf(heard);
    if (speech === undefined || !this.#mayPass(speech)) return void upstream.destroy();
    openTunnel(client, upstream);
  }

  /** Plain requests are handed over; of the rest only what names another host is refused. */
  #mayPass(speech: Speech): boolean {
    if (speech.kind === "http") {
      this.#handOver("http");
      return false;
    }
    if (speech.kind === "malformed") {
      this.#close("malformed");
      return false;
    }
    // Without a name in the hello the server cannot take it for another than the one that was dialed.
    if (speech.kind === "tls" && speech.serverName !== undefined && !this.#isJudgedName(speech.serverName)) {
      this.#close("name_mismatch");
      return false;
    }
    return true;
  }

  #speechOf(heard: Heard): Speech | undefined {
    if (heard.kind === "speech") return heard.speech;
    if (heard.kind === "closed") {
      // A program that connects and says nothing has used nothing.
      if (heard.bytes.length > 0) this.#record("malformed");
      this.#request.client.destroy();
    } else this.#close("limit");
    return undefined;
  }

  get #isInternal(): boolean {
    return this.#context.egress.internalHost(this.#settled!.host) !== undefined;
  }

  #isJudgedName(name: string): boolean {
    return isSameName(name, this.#judgedName);
  }

  /** As the program called it: an exception may be reached by its name or by its address. */
  get #judgedName(): string {
    const canonical = canonicalHost(this.#request.host);
    return canonical === undefined ? "" : hostText(canonical);
  }

  /**
   * SECURITY: a program can hold its first bytes back, and a server its answer, until the policy has changed. Nothing
   * open is known to the review before it is joined, so it is judged again on both sides of the wait.
   */
  #requireAllowed(): void {
    const { host, exception, wasApproved } = this.#settled!;
    const request = { host, port: this.#request.port };
    const reason = this.#context.egress.objection({ request, isInspected: false, wasApproved, exception });
    if (reason !== undefined)
      throw dialFailure(reason, "The policy changed while the connection was being made.");
  }

  async #connect(): Promise<Socket | undefined> {
    const { host, exception } = this.#settled!;
    const { client, port } = this.#request;
    let upstream: Socket | undefined;
    try {
      this.#requireAllowed();
      const relay = this.#context.buffers.into(client);
      upstream = await this.#context.dial({ host, port, exception, relay });
      this.#requireAllowed();
      if (!client.destroyed && !this.#context.egress.isEnded) return upstream;
      upstream.destroy();
      client.destroy();
      this.#record();
    } catch (error) {
      upstream?.destroy();
      const reason = failureReason(error);
      this.#record(reason);
      this.#answer(reason, undefined, messageOf(error));
    }
    return undefined;
  }

  /** Joins the two ends, the program's words still held back. The result takes them apart again. */
  #join(upstream: Socket): () => void {
    const { client, port } = this.#request;
    const { host, exception, wasApproved } = this.#settled!;
    const untrack = this.#context.egress.track({
      request: { host, port },
      isInspected: false,
      wasApproved,
      exception,
      // Once it is recorded, its bytes are among the totals.
      bytes: () =>
        this.#isRecorded ? { out: 0, in: 0 } : { out: upstream.bytesWritten, in: upstream.bytesRead },
      close: (reason) => {
        this.#closedFor = reason;
        // Now, not when both ends are gone: the daemon may be about to end, and the record would be lost.
        this.#record(reason, undefined, upstream);
        upstream.destroy();
        client.destroy();
      },
    });
    let isLeft = false;
    joinSockets(client, upstream, {
      idleMs: this.#context.limits.idleMs,
      onEnd: () => {
        untrack();
        if (!isLeft) this.#record(this.#closedFor, undefined, upstream);
      },
    });
    return () => {
      isLeft = true;
      untrack();
      upstream.unpipe(client);
      upstream.removeAllListeners("close");
      upstream.destroy();
    };
  }

  /** Gives the connection to the HTTP edge, which judges and records each request on its own. */
  #handOver(scheme: "http" | "https"): void {
    const { client, port } = this.#request;
    const { host, wasApproved, exception } = this.#settled!;
    const name = this.#judgedName;
    const caller = this.#caller({ target: { scheme, host: name, port }, wasApproved });
    const untrack = this.#context.egress.track({
      request: { host, port },
      isInspected: true,
      wasApproved,
      exception,
      close: () => client.destroy(),
    });
    client.once("close", untrack);
    if (scheme === "http") this.#context.edge.accept(client, caller);
    else this.#context.edge.acceptTls(client, name, caller, (reason) => this.#record(reason));
  }

  /** Says no in the program's own language where that can be done, and connects to nothing. */
  async #refuse(reason: DenyReason, settled: { rule: NetworkRule | undefined; host: string }): Promise<void> {
    const { client, via, host, port } = this.#request;
    this.#record(reason, settled.rule);
    const name = canonicalHost(host);
    const isTold = via === "tcp" || hidesAnswerToConnect.test(this.#request.userAgent ?? "");
    if (via === "proxy" && (!isTold || name?.kind !== "name")) return this.#answer(reason, settled.rule);
    if (name?.kind !== "name") return void client.destroy();
    this.#confirmConnect();
    const { limits } = this.#context;
    const heard = await hearFirstBytes(client, { limits, silenceMs: limits.silenceMs });
    const kind = heard.kind === "speech" ? heard.speech.kind : "other";
    const refusal = this.#denial(reason, settled.rule);
    const caller = this.#caller({ refusal, wasApproved: false });
    if (kind === "http")
      this.#context.edge.accept(client, { ...caller, target: { scheme: "http", host, port } });
    else if (kind === "tls") this.#context.edge.acceptTls(client, name.name, caller, () => undefined);
    else await refuseInItsProtocol(client, heard, denialLine(refusal));
  }

  #caller(more: Pick<Caller, "target" | "refusal" | "wasApproved">): Caller {
    const { egress, upstreams } = this.#context;
    const { via, program } = this.#request;
    return { egress, upstreams, via, program, active: 0, ...more };
  }

  #confirmConnect(): void {
    if (this.#request.via === "proxy")
      this.#request.client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  }

  #answer(reason: DenyReason, rule?: NetworkRule, detail?: string): void {
    const { client, via } = this.#request;
    if (via !== "proxy") return void client.destroy();
    client.end(denialText({ ...this.#denial(reason, rule), method: "CONNECT", detail }), () =>
      client.destroy(),
    );
  }

  #close(reason: DenyReason): void {
    this.#record(reason);
    this.#request.client.destroy();
  }

  #denial(reason: DenyReason, rule: NetworkRule | undefined): Denial {
    const { host, port } = this.#request;
    return { box: this.#context.egress.box.name, host: this.#settled?.host ?? host, port, reason, rule };
  }

  #record(reason?: DenyReason, rule?: NetworkRule, upstream?: Socket): void {
    if (this.#isRecorded) return;
    this.#isRecorded = true;
    const { via, program, host, port } = this.#request;
    const decision: Decision = {
      via,
      program,
      host: this.#settled?.host ?? host,
      port,
      method: via === "proxy" ? "CONNECT" : undefined,
      reason,
      rule: rule ?? this.#settled?.rule,
      wasApproved: this.#settled?.wasApproved,
      bytesOut: upstream?.bytesWritten ?? 0,
      bytesIn: upstream?.bytesRead ?? 0,
      startedMs: this.#startedMs,
    };
    this.#context.egress.record(decision);
  }
}
