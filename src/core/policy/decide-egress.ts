/**
 * The one decision about the network: may this box reach this host and port, with this method and path? Pure. All that
 * is not allowed is denied, and so is everything when the decision itself fails.
 */
import { omitUndefined } from "../../base/omit-undefined.ts";
import { forbiddenRange } from "../../contract/network/address-ranges.ts";
import {
  type CanonicalHost,
  canonicalHost,
  isOwnName,
  reservedName,
} from "../../contract/network/host-name.ts";
import { matchesHost } from "../../contract/network/host-pattern.ts";
import type {
  AddressException,
  DenyReason,
  EgressRequest,
  EgressDecision,
  NetworkPolicy,
  NetworkRule,
} from "../../contract/network/policy.ts";
import { type Fit, coversPort, fitOf, hasConditions, isLive, mostExact } from "./rule-match.ts";

export interface EgressFacts {
  readonly nowMs: number;
  /** Addresses of the host's own interfaces. */
  readonly hostAddresses?: readonly string[] | undefined;
}

/** An error inside a decision means deny. */
export function decideSafely(
  policy: NetworkPolicy,
  request: EgressRequest,
  facts: EgressFacts,
): EgressDecision {
  try {
    return decideEgress(policy, request, facts);
  } catch {
    return deny(request.host, "policy_error");
  }
}

export function decideEgress(
  policy: NetworkPolicy,
  request: EgressRequest,
  facts: EgressFacts,
): EgressDecision {
  const canonical = canonicalHost(request.host);
  if (canonical === undefined) return deny(request.host.slice(0, 253), "bad_host");
  const exception = findException(policy, canonical, request.port);
  const host = exception?.name ?? (canonical.kind === "name" ? canonical.name : canonical.address);
  const closed = exception === undefined ? hardDenial(policy, canonical, facts) : undefined;
  if (closed !== undefined) return deny(host, closed);
  return decideByRules(policy, { ...request, host }, facts.nowMs, exception);
}

/** By its name and port, or by its address and port. */
const findException = (
  policy: NetworkPolicy,
  host: CanonicalHost,
  port: number,
): AddressException | undefined =>
  policy.exceptions.find(
    (one) =>
      one.port === port && (host.kind === "name" ? one.name === host.name : one.address === host.address),
  );

/** Destinations that no rule can open. */
function hardDenial(policy: NetworkPolicy, host: CanonicalHost, facts: EgressFacts): DenyReason | undefined {
  if (host.kind === "address")
    return forbiddenRange(host.address, facts.hostAddresses) === undefined
      ? "raw_address"
      : "forbidden_range";
  if (hasBuiltIn(policy, host.name)) return undefined;
  if (!isOwnName(host.name)) return reservedName(host.name) === undefined ? undefined : "reserved_name";
  return policy.exceptions.some(({ name }) => name === host.name) ? "wrong_port" : "reserved_name";
}

/** A host that is part of AgentBox itself, such as the model gateway: it is on no network. */
const hasBuiltIn = (policy: NetworkPolicy, name: string): boolean =>
  policy.rules.some((rule) => rule.origin.layer === "built-in" && rule.host.name === name);

function decideByRules(
  policy: NetworkPolicy,
  request: EgressRequest,
  nowMs: number,
  exception: AddressException | undefined,
): EgressDecision {
  const { host, port } = request;
  const named = policy.rules.filter((rule) => matchesHost(rule.host, host));
  const here = named.filter((rule) => isLive(rule, nowMs) && coversPort(rule, port));

  const denials = here.filter(({ mode }) => mode === "deny");
  const denial = denials.find((rule) => fitOf(rule, request) === "yes");
  if (denial) return deny(host, "rule_denies", denial);
  const masked = denials.find((rule) => fitOf(rule, request) === "overridden");
  if (masked) return deny(host, "overridden", masked);
  const isBound = ({ rules }: NetworkPolicy["bounds"][number]): boolean =>
    rules.some((rule) => isLive(rule, nowMs) && matchesHost(rule.host, host) && coversPort(rule, port));
  if (
    !hasBuiltIn(policy, host) &&
    !policy.bounds.every((bound) => bound.rules.length === 0 || isBound(bound))
  )
    return deny(host, "outside_bound");

  const permits = here.filter(({ mode }) => mode !== "deny");
  if (permits.length === 0)
    return unlisted(
      policy,
      host,
      named.filter(({ mode }) => mode !== "deny"),
      nowMs,
    );
  const best = mostExact(permits);
  const mustInspect = here.some(({ inspect }) => inspect) || denials.some(hasConditions);
  return decideBest(best, request, mustInspect, exception);
}

/** No rule is for this host and port: the default decides. */
function unlisted(
  policy: NetworkPolicy,
  host: string,
  named: readonly NetworkRule[],
  nowMs: number,
): EgressDecision {
  const ended = named.find((rule) => !isLive(rule, nowMs));
  const rule = ended ?? named[0];
  const reason = ended ? "expired" : rule ? "wrong_port" : "no_rule";
  return policy.default === "ask" ? { outcome: "ask", host, rule, reason } : deny(host, reason, rule);
}

/** Among equally exact rules a person's earlier yes wins, then a question, then what is allowed. */
function decideBest(
  rules: readonly NetworkRule[],
  request: EgressRequest,
  mustInspect: boolean,
  exception: AddressException | undefined,
): EgressDecision {
  const { host } = request;
  const withFit = (fit: Fit) => rules.filter((rule) => fitOf(rule, request) === fit);
  const fitting = withFit("yes");
  const open = withFit("unknown");
  const approved = fitting.find(({ origin }) => origin.layer === "approval");
  const asking = fitting.find(({ mode }) => mode === "ask");
  const allowing = fitting.find(({ mode }) => mode === "allow");
  const allow = (rule: NetworkRule, isInspected: boolean): EgressDecision => ({
    outcome: "allow",
    host,
    rule,
    mustInspect: isInspected,
    ...omitUndefined({ exception }),
  });
  if (approved) return allow(approved, mustInspect || hasConditions(approved));
  // The connection may begin, because some of its requests may pass; each of them is decided when it has been read.
  const begin = asking ? open.find(({ mode }) => mode === "allow") : open[0];
  if (begin && (asking || !allowing)) return allow(begin, true);
  if (asking) return { outcome: "ask", host, rule: asking, reason: "not_approved" };
  if (allowing) {
    const isRead = rules.some((rule) => hasConditions(rule) && rule.mode === "ask");
    return allow(allowing, mustInspect || isRead || hasConditions(allowing));
  }
  const [rule] = rules;
  const reason = misfits.find((fit) => withFit(fit).length > 0) ?? "wrong_method";
  return deny(host, reason, withFit(reason)[0] ?? rule);
}

/** The reason where no rule fits, the nearest miss first. */
const misfits = ["overridden", "wrong_path", "malformed", "wrong_method"] as const;

const deny = (host: string, reason: DenyReason, rule?: NetworkRule): EgressDecision => ({
  outcome: "deny",
  host,
  reason,
  ...omitUndefined({ rule }),
});
