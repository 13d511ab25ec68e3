/**
 * Everything the gate knows about one box: its policy, what it has open and its budgets. A decision is
 * made here and nowhere else, and an error inside a decision is a denial.
 */
import { messageOf } from "../../../base/errors.ts";
import { printable } from "../../../base/printable.ts";
import type { NewEgressRecord } from "../../../contract/network/egress.ts";
import type { OpenHost } from "../../../contract/network/host-totals.ts";
import type {
  AddressException,
  DenyReason,
  EgressRequest,
  EgressDecision,
  NetworkPolicy,
  NetworkRule,
} from "../../../contract/network/policy.ts";
import type { GateBox, GateListener, InternalHost } from "../../../ports/gate.ts";
import { BoxSecrets, type BoxSecretsOptions } from "./box-secrets.ts";
import { OpenConnections } from "./open-connections.ts";
import type { Pace } from "./pace.ts";
import { Quota } from "./quota.ts";
import { TokenBucket } from "../../../base/rate.ts";

export type DecideEgress = (
  policy: NetworkPolicy,
  request: EgressRequest,
  facts: { readonly nowMs: number },
) => EgressDecision;

export interface BoxEgressOptions extends BoxSecretsOptions {
  readonly decide: DecideEgress;
  readonly listener: GateListener;
  readonly internalHosts: ReadonlyMap<string, InternalHost>;
  readonly openPace: () => Pace;
}

/** A verdict with the questions answered. */
export type Settled =
  | {
      readonly outcome: "allow";
      readonly host: string;
      readonly rule: NetworkRule | undefined;
      readonly mustInspect: boolean;
      readonly exception?: AddressException | undefined;
      readonly wasApproved: boolean;
    }
  | {
      readonly outcome: "deny";
      readonly host: string;
      readonly rule: NetworkRule | undefined;
      readonly reason: DenyReason;
    };

/** Something open that a later policy may no longer allow. */
export interface OpenPassage {
  readonly request: EgressRequest;
  readonly isInspected: boolean;
  readonly wasApproved: boolean;
  readonly exception?: AddressException | undefined;
  /** The bytes that have passed so far, readable while it is open. */
  readonly bytes?: () => { readonly out: number; readonly in: number };
  /** The secret that went into it. */
  readonly secret?: () => string | undefined;
  /** Without a reason: the box is over, and nothing was denied. */
  close(reason?: DenyReason): void;
}

export interface Decision {
  readonly via: NewEgressRecord["via"];
  readonly program?: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly reason?: DenyReason | undefined;
  readonly rule?: NetworkRule | undefined;
  readonly wasApproved?: boolean | undefined;
  readonly bytesOut?: number;
  readonly bytesIn?: number;
  readonly status?: number | undefined;
  readonly startedMs?: number | undefined;
  readonly secret?: string | undefined;
  readonly isInjected?: boolean | undefined;
}

export type LimitName = "connections" | "new-connections" | "requests" | "approvals";

export class BoxEgress {
  readonly box: GateBox;
  readonly secrets: BoxSecrets;
  readonly pace: Pace;
  readonly #options: BoxEgressOptions;
  readonly #connectionsOpen = new OpenConnections();
  readonly #open = new Set<OpenPassage>();
  readonly #newConnections: TokenBucket;
  readonly #requests: TokenBucket;
  readonly #overLimit = new Map<LimitName, { decision: Decision; count: number }>();
  readonly #ended = new AbortController();
  readonly #questions: Quota;
  #policy: NetworkPolicy;
  #connections = 0;
  #cancelExpiry: () => void = () => undefined;

  constructor(box: GateBox, policy: NetworkPolicy, options: BoxEgressOptions) {
    this.box = box;
    this.#options = options;
    this.pace = options.openPace();
    const { limits, clock } = options;
    this.#questions = new Quota(limits.approvalsPending);
    this.secrets = new BoxSecrets(box, options, this.#questions);
    this.#newConnections = new TokenBucket(
      limits.newConnectionsPerSecond,
      limits.newConnectionsPerSecond,
      clock,
    );
    this.#requests = new TokenBucket(limits.requestsPerSecond, limits.requestsBurst, clock);
    this.#policy = policy;
    this.#awaitExpiry();
  }

  get isEnded(): boolean {
    return this.#ended.signal.aborted;
  }

  get nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** Who serves a judged name in place of a server; undefined: it is a server's. */
  internalHost(host: string): InternalHost | undefined {
    return this.#options.internalHosts.get(host);
  }

  openHosts(): readonly OpenHost[] {
    return this.#connectionsOpen.list();
  }

  setPolicy(policy: NetworkPolicy): void {
    this.#policy = policy;
    this.#review();
  }

  /** The secrets of the box changed: what one went into ends, and so does what now had to be read and is not. */
  closeInjected(secret: string | undefined): void {
    this.secrets.changed();
    for (const passage of this.#open) {
      const used = passage.secret?.();
      if (used !== undefined && (secret === undefined || used === secret))
        passage.close("secret_not_granted");
    }
    this.#review();
  }

  end(): void {
    this.#cancelExpiry();
    this.#ended.abort();
    for (const passage of this.#open) passage.close();
  }

  /** Counts a connection in; undefined when the box has too many or makes them too fast. */
  admit(decision: Decision): (() => void) | undefined {
    const { limits } = this.#options;
    if (this.#connections >= limits.connectionsPerBox) return this.#refuse("connections", decision);
    if (!this.#newConnections.take()) return this.#refuse("new-connections", decision);
    this.#connections += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#connections -= 1;
      isOver = true;
    };
  }

  admitRequest(decision: Decision): boolean {
    if (this.#requests.take()) return true;
    this.#refuse("requests", decision);
    return false;
  }

  judge(request: EgressRequest): EgressDecision {
    try {
      const decision = this.#options.decide(this.#policy, request, { nowMs: this.#options.clock.nowMs() });
      if (decision.outcome !== "allow" || decision.mustInspect) return decision;
      return { ...decision, mustInspect: this.secrets.manages(decision.host, request.port) };
    } catch (error) {
      this.#options.logger.error({ box: this.box.name, error: messageOf(error) }, "a decision failed");
      return { outcome: "deny", host: clean(request.host), reason: "policy_error" };
    }
  }

  /** Judges, and asks a person where the policy says so. `wasApproved`: they agreed to this connection before. */
  settle(
    request: EgressRequest,
    program: string | undefined,
    options: { readonly wasApproved?: boolean; readonly signal?: () => AbortSignal } = {},
  ): Settled | Promise<Settled> {
    const decision = this.judge(request);
    if (decision.outcome === "allow") return { ...decision, wasApproved: false };
    if (decision.outcome === "deny") return denied(decision);
    if (options.wasApproved === true) return this.#approved(decision, request.port);
    return this.#ask({ ...request, host: decision.host }, decision.rule, program, options.signal?.());
  }

  /** Notes something open; the result takes it out again. */
  track(passage: OpenPassage): () => void {
    this.#open.add(passage);
    const { host, port } = passage.request;
    const close = this.#connectionsOpen.add(host, port, this.#options.clock.nowMs(), passage.bytes);
    return () => {
      if (this.#open.delete(passage)) close();
    };
  }

  record(decision: Decision, count = 1): void {
    this.#options.listener.record({ ...this.#toRecord(decision), ...(count === 1 ? {} : { count }) });
  }

  async #ask(
    request: EgressRequest,
    rule: NetworkRule | undefined,
    program: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Settled> {
    const refused = (reason: DenyReason): Settled => denied({ host: request.host, rule, reason });
    if (!this.#questions.take()) return refused("limit");
    try {
      const either = signal ? AbortSignal.any([signal, this.#ended.signal]) : this.#ended.signal;
      const answer = await this.#options.listener.ask({ box: this.box, ...request, program }, either);
      if (!answer || either.aborted) return refused("not_approved");
      // The answer may have changed the policy: what it says now counts, a denial included.
      const decision = this.judge(request);
      if (decision.outcome === "ask") return this.#approved(decision, request.port);
      return decision.outcome === "allow" ? { ...decision, wasApproved: true } : denied(decision);
    } catch (error) {
      this.#options.logger.error({ box: this.box.name, error: messageOf(error) }, "a question failed");
      return refused("not_approved");
    } finally {
      this.#questions.give();
    }
  }

  #approved({ host, rule }: Pick<EgressDecision, "host" | "rule">, port: number): Settled {
    const needsReading = (rule !== undefined && hasConditions(rule)) || this.secrets.manages(host, port);
    return { outcome: "allow", host, rule, mustInspect: needsReading, wasApproved: true };
  }

  /** Why the policy in force no longer allows what was settled before; undefined: it still does. */
  objection(passage: Omit<OpenPassage, "close">): DenyReason | undefined {
    const decision = this.judge(passage.request);
    if (decision.outcome === "deny") return decision.reason;
    if (decision.outcome === "ask") {
      if (!passage.wasApproved) return decision.reason;
      const mustInspect = !passage.isInspected && this.secrets.manages(decision.host, passage.request.port);
      return mustInspect ? "not_inspectable" : undefined;
    }
    if (decision.mustInspect && !passage.isInspected) return "not_inspectable";
    return decision.exception?.address === passage.exception?.address ? undefined : "forbidden_range";
  }

  /** Closes what the policy in force no longer allows. */
  #review(): void {
    this.#awaitExpiry();
    for (const passage of this.#open) {
      const reason = this.objection(passage);
      if (reason !== undefined) passage.close(reason);
    }
  }

  #awaitExpiry(): void {
    this.#cancelExpiry();
    const now = this.#options.clock.nowMs();
    const rules = [this.#policy.rules, ...this.#policy.bounds.map((bound) => bound.rules)].flat();
    const next = Math.min(...rules.map((rule) => rule.expiresAtMs ?? Infinity).filter((at) => at > now));
    this.#cancelExpiry = Number.isFinite(next)
      ? this.#options.clock.after(Math.max(1, next - now), () => this.#review())
      : () => undefined;
  }

  /** The first of a second is recorded at once; the rest of that second is one record at its end. */
  #refuse(limit: LimitName, decision: Decision): undefined {
    const refused: Decision = { ...decision, reason: "limit" };
    const pending = this.#overLimit.get(limit);
    if (pending) {
      pending.count += 1;
      pending.decision = refused;
      return undefined;
    }
    this.record(refused);
    this.#overLimit.set(limit, { decision: refused, count: 0 });
    this.#options.clock.after(1_000, () => {
      const rest = this.#overLimit.get(limit);
      this.#overLimit.delete(limit);
      if (!rest || rest.count === 0) return;
      this.record(
        { ...rest.decision, method: undefined, path: `(${limit}: ${rest.count} refused)` },
        rest.count,
      );
    });
    return undefined;
  }

  #toRecord(decision: Decision): NewEgressRecord {
    const { reason, rule, startedMs } = decision;
    const { clock } = this.#options;
    return {
      atMs: clock.nowMs(),
      box: this.box.name,
      incarnation: this.box.incarnation,
      program: decision.program === undefined ? undefined : clean(decision.program),
      via: decision.via,
      host: clean(withoutUserInfo(decision.host)),
      port: decision.port,
      method: decision.method,
      path: decision.path === undefined ? undefined : withoutQuery(clean(decision.path)),
      verdict: reason === undefined ? "allow" : "deny",
      reason,
      rule: rule?.id ?? (decision.wasApproved === true ? "approval:once" : undefined),
      layer: rule?.origin.layer ?? (decision.wasApproved === true ? "approval" : undefined),
      bytesOut: decision.bytesOut ?? 0,
      bytesIn: decision.bytesIn ?? 0,
      status: decision.status,
      durationMs: startedMs === undefined ? undefined : Math.round(clock.monotonicMs() - startedMs),
      ...(decision.isInjected === undefined
        ? {}
        : { secret: decision.secret, isInjected: decision.isInjected }),
    };
  }
}

const denied = ({
  host,
  rule,
  reason,
}: {
  readonly host: string;
  readonly rule?: NetworkRule | undefined;
  readonly reason: DenyReason;
}): Settled => ({ outcome: "deny", host, rule, reason });

const hasConditions = ({ inspect, methods, paths }: NetworkRule): boolean =>
  inspect || methods.length > 0 || paths.length > 0;

/** SECURITY: records are shown in terminals and kept; what came from the box is cut and made visible. */
const clean = (text: string): string => printable(text.slice(0, 1_024));

/** SECURITY: a host that was refused may be one with a password before its "@". */
const withoutUserInfo = (host: string): string => host.slice(host.lastIndexOf("@") + 1);

/** SECURITY: queries carry tokens, so only that there was one is kept. */
export function withoutQuery(path: string): string {
  const at = path.indexOf("?");
  return at === -1 ? path : `${path.slice(0, at)}?…`;
}
