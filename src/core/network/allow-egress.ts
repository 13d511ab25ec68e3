import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { AllowEgress } from "../../contract/network/egress.ts";
import { canonicalHost, hostText } from "../../contract/network/host-name.ts";
import { canonicalPath } from "../../contract/network/path-pattern.ts";
import type { EgressRequest, NetworkPolicy } from "../../contract/network/policy.ts";
import type { RecordParts, Using } from "../using.ts";
import { decideSafely } from "../policy/decide-egress.ts";
import { effectivePolicy } from "./apply-policy.ts";
import { rememberRule, ruleFor } from "./remember-rule.ts";

const defaultTtlMs = 86_400_000;

/**
 * The effect that an answered question would have had, after the question is gone: a rule for exactly this, with an
 * end.  SECURITY: a yes that would not help is refused and leaves no rule behind, because it would come to life on the
 * day a bound is widened or a denial removed.
 */
export async function allowEgress(
  core: Using<RecordParts | "background" | "gate" | "getBox" | "live" | "locked">,
  name: string,
  wish: AllowEgress,
): Promise<NetworkPolicy> {
  const box = await core.getBox(name);
  if (box.network === undefined) {
    throw new AgentBoxError(
      "policy.invalid",
      `The box "${name}" has no network policy that a rule could join.`,
      {
        hint: `Give it one: agentbox policy apply ${name}`,
      },
    );
  }
  const request = readRequest(wish);
  const nowMs = core.ports.clock.nowMs();
  const rule = ruleFor(request, nowMs + (wish.ttlMs ?? defaultTtlMs));
  const policy = await effectivePolicy(core, box);
  const decision = decideSafely({ ...policy, rules: [...policy.rules, rule] }, request, { nowMs });
  if (decision.outcome !== "allow") throw cannotOpen(request, decision.reason);
  await rememberRule(core, box, wish.scope, rule);
  return effectivePolicy(core, await core.getBox(name));
}

function readRequest({ host: text, port, method, path: raw }: AllowEgress): EgressRequest {
  const host = canonicalHost(text);
  if (host === undefined)
    throw new AgentBoxError("input.invalid", `"${printable(text)}" is not a host.`, {
      hint: "Write it as a plain host name.",
    });
  const path = raw === undefined ? undefined : canonicalPath(raw);
  if (raw !== undefined && path === undefined)
    throw new AgentBoxError("input.invalid", `The path ${printable(raw)} can be read in more than one way.`, {
      hint: "Allow the host, or write a rule in the manifest.",
    });
  return { host: hostText(host), port, method, path };
}

const cannotOpen = ({ host, port }: EgressRequest, reason: string): AgentBoxError =>
  new AgentBoxError("policy.invalid", `A yes does not open ${host} on port ${port}: ${reason}.`, {
    hint: "See why, and what would: agentbox policy explain",
    facts: { host, port, reason },
  });
