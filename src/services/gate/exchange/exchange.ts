/**
 * One request that the gate reads: judged on its own, sent on with exactly the bytes that were judged, answered with
 * what the server said (see delivery.ts for what a secret went into), and recorded once.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Http2Stream, constants } from "node:http2";
import type { DenyReason, EgressRequest } from "../../../contract/network/policy.ts";
import { formOverride, overridesOf } from "../../../contract/network/request-overrides.ts";
import type { InternalHost } from "../../../ports/gate.ts";
import { authorityFor, parseAbsoluteTarget, parseAuthority } from "../arrivals/authority.ts";
import { type Decision, type Settled, withoutQuery } from "../box/box-egress.ts";
import type { Refusal, Sendable } from "../box/box-secrets.ts";
import type { Caller } from "../arrivals/caller.ts";
import { Delivery, type Target, type Upgrade } from "./delivery.ts";
import { type Denial, isSecretDenial } from "./denial.ts";
import type { Failure } from "./failure.ts";
import { formMethodScan } from "./form-method.ts";
import { type VisitCount, visitHost } from "./internal-visit.ts";
import type { GateLimits } from "../limits.ts";
import { type OutboundResponse, isGone, writeDenial } from "./outbound-response.ts";
import { type InboundRequest, type RequestHead, hasOneReading, readRequestHead } from "./request-head.ts";

type Allowed = Extract<Settled, { outcome: "allow" }>;

/** Which secret a request was about, and whether it had it. */
type Receipt = Pick<Decision, "secret" | "isInjected">;

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
  #isPreparing = false;
  #delivery: Delivery | undefined;
  #receipt: (() => Receipt) | undefined;
  /** An internal host answers, and this is what has passed. */
  #visit: (() => VisitCount) | undefined;
  #untrack: () => void = () => undefined;
  #cancelBodyTimer: () => void = () => undefined;
  #isRecorded = false;

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
    // Unreadable frames count as well: over HTTP/2 they would otherwise come without end.
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
    if (isGone(this.#response)) return this.#record("not_approved");
    if (settled.outcome === "deny") return this.#deny(settled.reason, settled);
    if (settled.mustInspect && !hasOneReading(this.#target!.path)) return this.#deny("malformed", settled);
    this.#settled = settled;
    this.#untrack = egress.track({
      request: this.#judgedRequest(),
      isInspected: true,
      wasApproved: settled.wasApproved || wasApproved,
      exception: settled.exception,
      secret: () => this.#receipt?.().secret,
      close: (reason) => this.#abort(reason),
    });
    const internal = egress.internalHost(settled.host);
    // SECURITY: a name of the gate's own is never looked up outside, however the program speaks.
    if (internal === undefined) await this.#prepareAndSend(settled);
    else if ("stream" in this.#request || "stream" in this.#response) this.#deny("not_http", settled);
    else this.#serve(internal, this.#request, this.#response);
  }

  /**
   * Puts in the secrets that the program does not hold. Nothing is sent before they are there, and nothing without
   * them.
   */
  async #prepareAndSend(settled: Allowed): Promise<void> {
    const { scheme, host, port, path } = this.#target!;
    const { method, headers, framing, upgrade } = this.#head!;
    const { secrets } = this.#caller.egress;
    // SECURITY: a secret is for a name that its server proves; called by its address it would prove another.
    if (host !== settled.host && secrets.manages(settled.host, port))
      return this.#deny("name_mismatch", settled);
    const isUpgrade = this.#upgrade !== undefined && upgrade === "websocket";
    const judged = secrets.prepare(
      { scheme, host, port, method, path, headers, hasBody: framing !== "none", isUpgrade },
      () => (this.#question = new AbortController()),
    );
    if (!(judged instanceof Promise)) return this.#send(judged);
    this.#isPreparing = true;
    const prepared = await judged;
    this.#isPreparing = false;
    // SECURITY: the policy may have refused the request meanwhile, and the value must not go out after that.
    if (!this.#isRecorded) this.#send(prepared);
  }

  #send(prepared: Sendable | Refusal): void {
    const secret = prepared.outcome === "pass" ? undefined : prepared.secret;
    if (prepared.outcome === "refuse") return this.#fail({ ...prepared, detail: prepared.message });
    // The program went away while it was waited for.
    if (this.#question?.signal.aborted === true) return this.#fail({ reason: "secret_not_granted", secret });
    const delivery = new Delivery(
      {
        caller: this.#caller,
        request: this.#request,
        response: this.#response,
        upgrade: this.#upgrade,
        head: this.#head!,
        target: this.#target!,
        exception: this.#settled?.exception,
        prepared,
        form: formMethodScan(this.#head!, () => this.#isRefusedForFormMethod(prepared)),
        isJudged: this.#settled?.mustInspect !== false || prepared.outcome === "inject",
        limits: this.#limits,
      },
      {
        onAnswered: () => this.#record(),
        onFailure: (failure) => this.#fail(failure),
        onBrokenOff: () => this.#abort(),
        onUpgradeEnd: (failure) => {
          this.#record(failure?.reason);
          this.#over();
        },
      },
    );
    if (secret !== undefined) this.#receipt = () => ({ secret, isInjected: delivery.isSent });
    this.#delivery = delivery;
    delivery.start();
  }

  /** SECURITY: the rules decide once more, as for the same word in a header, and so does what the secret is bound to. */
  #isRefusedForFormMethod(prepared: Sendable): boolean {
    const judged = this.#judgedRequest();
    const overrides = { path: judged.overrides?.path, method: formOverride };
    const { wasApproved, exception } = this.#settled!;
    const reason = this.#caller.egress.objection({
      request: { ...judged, overrides },
      isInspected: true,
      wasApproved: wasApproved || this.#caller.wasApproved,
      exception,
    });
    const failure = reason === undefined ? overriddenSecret(prepared) : { reason };
    if (failure !== undefined) this.#fail(failure);
    return failure !== undefined;
  }

  #serve(host: InternalHost, request: IncomingMessage, response: ServerResponse): void {
    const { box } = this.#caller.egress;
    const upgrade = this.#upgrade;
    // The server of the internal host sees the path that was judged, also when the program spoke to us as to a proxy.
    request.url = this.#target!.path;
    const timer = this.#watchBody();
    request.on("end", () => clearTimeout(timer));
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
    const authority = authorityFor(head.authority, this.#target);
    if (authority === undefined) return "name_mismatch";
    this.#head = { ...head, authority };
    return undefined;
  }

  #judgedRequest(): EgressRequest {
    const { host, port, path } = this.#target!;
    const { method, headers } = this.#head!;
    return { host, port, method, path, overrides: overridesOf(headers, path) };
  }

  #deny(reason: DenyReason, settled?: Settled): void {
    this.#record(reason, settled);
    this.#answer({ ...this.#denial(reason), rule: settled?.rule });
  }

  /** A policy that changed, or a limit: what is under way ends here. */
  #abort(reason?: DenyReason): void {
    // Without a reason the box is over; what was being decided is recorded with its own.
    if (this.#isPreparing && reason === undefined) return this.#destroyClient();
    this.#delivery?.cancel();
    this.#record(reason);
    // An internal host may be about to answer itself, and must not find its answer taken.
    const isTaken =
      this.#visit !== undefined || this.#delivery?.isUpgraded === true || this.#response.headersSent;
    if (reason === undefined || isTaken) this.#destroyClient();
    else this.#answer(this.#denial(reason));
  }

  #fail({ reason, detail, hint, secret }: Failure): void {
    if (this.#isRecorded) return;
    if (isSecretDenial(reason)) {
      const before = this.#receipt?.();
      this.#receipt = () => ({ isInjected: false, secret, ...before });
    }
    this.#delivery?.cancel();
    this.#record(reason);
    if (this.#response.headersSent) return this.#destroyClient();
    this.#answer({ ...this.#denial(reason), detail, hint });
  }

  #destroyClient(): void {
    if ("stream" in this.#response) resetStream(this.#response.stream);
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
      bytesOut: this.#delivery?.bytesOut ?? 0,
      bytesIn: this.#delivery?.bytesIn ?? 0,
      status: this.#delivery?.status,
      ...this.#visit?.(),
      ...this.#receipt?.(),
    });
  }

  #clientClosed(): void {
    this.#question?.abort();
    if (this.#settled !== undefined && !this.#isRecorded && !this.#isPreparing) {
      this.#delivery?.cancel();
      this.#record();
    }
    this.#over();
  }

  #over(): void {
    this.#cancelBodyTimer();
    this.#delivery?.over();
    this.#untrack();
    this.#caller.active -= 1;
  }
}

function overriddenSecret(prepared: Sendable): Failure | undefined {
  const refusal = prepared.outcome === "inject" ? prepared.overridden : undefined;
  return refusal && { ...refusal, detail: refusal.message };
}

/**
 * SECURITY: not in the same turn, because Node's HTTP/2 can spoil its own memory when a stream is reset from inside one
 * of its callbacks. Without an error, programs would take what has come of an answer for all of it.
 */
const resetStream = (stream: Http2Stream): void =>
  void setImmediate(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
