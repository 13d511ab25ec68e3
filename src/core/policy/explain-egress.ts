/** Why a request would pass or not, in words, and where to change that. Pure. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { Explanation } from "../../contract/api/schemas.ts";
import { canonicalHost, reservedName } from "../../contract/network/host-name.ts";
import { formatHostPattern, matchesHost } from "../../contract/network/host-pattern.ts";
import type {
  DenyReason,
  EgressRequest,
  EgressDecision,
  NetworkPolicy,
  RuleOrigin,
} from "../../contract/network/policy.ts";
import { type EgressFacts, decideSafely } from "./decide-egress.ts";
import { coversPort, isLive } from "./rule-match.ts";

/** Ways out of a refusal besides editing a file. */
export interface WayOut {
  /** The box to change. */
  readonly box?: string | undefined;
  /** Presets that have the destination. */
  readonly presets: readonly string[];
}

const schemePorts: ReadonlyMap<string, number> = new Map([
  ["http", 80],
  ["https", 443],
  ["ws", 80],
  ["wss", 443],
  ["ssh", 22],
  ["git", 9418],
]);

/** `https://host/path`, `host:port` or `host`, taken apart without the corrections that URL parsers make. */
export function parseDestination(url: string): Omit<EgressRequest, "method"> {
  const [, scheme = "https", authority = "", rest = ""] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?([^/?#]*)([^#]*)/s.exec(url) ?? [];
  const [, bracketed, plain = "", digits] = /^(?:(\[.*\])|(.*?))(?::(\d{1,5}))?$/s.exec(authority) ?? [];
  const port = digits === undefined ? schemePorts.get(scheme.toLowerCase()) : Number(digits);
  if (port === undefined)
    throw new AgentBoxError("input.invalid", `The port of ${scheme}:// is not known here.`, {
      hint: `Write it, too: ${scheme}://HOST:PORT`,
    });
  const path = rest === "" ? "/" : rest.startsWith("/") ? rest : `/${rest}`;
  return { host: bracketed ?? plain, port, path };
}

export function explainEgress(
  policy: NetworkPolicy,
  { url, method }: { readonly url: string; readonly method: string },
  facts: EgressFacts,
  wayOut: WayOut = { presets: [] },
): Explanation {
  const request = { ...parseDestination(url), method };
  const decision = decideSafely(policy, request, facts);
  const origin = originOf(policy, decision, request, facts);
  const reason = decision.outcome === "allow" ? undefined : decision.reason;
  return {
    verdict: decision.outcome,
    host: printable(decision.host),
    port: request.port,
    sentence: printable(sentenceFor(decision, request)),
    ...omitUndefined({ reason, rule: decision.rule?.id, ...origin }),
    howToChange: printable(howToChange(decision, request, { origin, wayOut })),
  };
}

/** Who decided: the rule, the bound that was left, or what is built in. */
function originOf(
  policy: NetworkPolicy,
  decision: EgressDecision,
  { port }: EgressRequest,
  { nowMs }: EgressFacts,
): RuleOrigin | undefined {
  if (decision.rule) return decision.rule.origin;
  if (decision.outcome === "allow") return undefined;
  if (decision.reason === "outside_bound") {
    const left = policy.bounds.find(
      ({ rules }) =>
        !rules.some(
          (rule) => isLive(rule, nowMs) && matchesHost(rule.host, decision.host) && coversPort(rule, port),
        ),
    );
    return left?.rules[0]?.origin;
  }
  return { layer: "built-in" };
}

function sentenceFor(decision: EgressDecision, { port, method, path }: EgressRequest): string {
  const where = `${decision.host} on port ${port}`;
  if (decision.outcome === "ask") return `A person is asked before the box reaches ${where}.`;
  if (decision.outcome === "deny") return `The box cannot reach ${where}: ${whyNot(decision, method, path)}.`;
  const how = decision.mustInspect
    ? `send ${method ?? "requests"} to ${where}, and the gate reads along`
    : `reach ${where}`;
  const target = decision.exception ? ` (${decision.exception.address}, ${decision.exception.reason})` : "";
  return `The box may ${how}${target}, by ${decision.rule.id}.`;
}

function whyNot(
  { reason, rule, host }: Extract<EgressDecision, { outcome: "deny" }>,
  method = "",
  path = "",
): string {
  const name = rule ? `${rule.id} for ${formatHostPattern(rule.host)}` : "";
  const reasons: Partial<Record<DenyReason, string>> = {
    bad_host: "it is not a host name",
    raw_address: "names are reached, addresses are not",
    forbidden_range: "the address belongs to the host or its networks",
    reserved_name:
      (canonicalHost(host)?.kind === "name" ? reservedName(host) : undefined) ?? "no exception has this name",
    no_rule: "no rule names it",
    rule_denies: `${name} denies it`,
    outside_bound: "it is outside the upper bound that the owner of the machine set",
    wrong_port: name === "" ? "the exception is for another port" : `${name} is for other ports`,
    wrong_method: `${name} does not allow ${method}`,
    wrong_path: `${name} does not allow ${path}`,
    malformed: `the path ${path} can be read in more than one way`,
    overridden: "a header or parameter could replace the method or the path",
    expired: `${name} has ended`,
    policy_error: "the policy could not be applied",
  };
  return reasons[reason] ?? reason;
}

function howToChange(
  decision: EgressDecision,
  { port }: EgressRequest,
  { origin, wayOut }: { readonly origin: RuleOrigin | undefined; readonly wayOut: WayOut },
): string {
  const position =
    origin?.file === undefined
      ? ""
      : ` (${origin.file}${origin.line === undefined ? "" : `:${origin.line}`})`;
  if (decision.outcome === "allow") {
    return `Remove ${decision.rule.id}${position}, or add a rule with mode = "deny".`;
  }
  const entry = port === 80 || port === 443 ? decision.host : `${decision.host}:${port}`;
  const changes: Partial<Record<DenyReason, string>> = {
    bad_host: "Write the destination as a plain host name.",
    malformed: "Write the path without dots, empty segments and encoded slashes.",
    raw_address: openAddress(port),
    forbidden_range: openAddress(port),
    reserved_name: openAddress(port),
    outside_bound: `Add "${entry}" to network.only of the ${origin?.layer ?? "host"} policy${position}.`,
    no_rule: openHost(entry, wayOut),
  };
  const { rule, reason } = decision;
  return changes[reason] ?? (rule ? `Change ${rule.id}${position}.` : openHost(entry, wayOut));
}

/** The command that would do, a preset first: it names all that its tool needs. */
function openHost(entry: string, { box, presets }: WayOut): string {
  const flags = [...presets.map((preset) => `--preset ${preset}`), `--allow ${entry}`];
  const command = box === undefined ? "" : `Run: agentbox policy apply ${box} ${flags.join(", or ")}. `;
  return `${command}${box === undefined ? "Add" : "To keep it, add"} "${entry}" to network.allow of agentbox.toml.`;
}

const openAddress = (port: number): string =>
  `Open one address with [network.exceptions.<name>], address = "<address>:${port}" and a reason.`;
