import type { PolicyAnswer } from "../../contract/api/schemas.ts";
import type { NetworkPolicy, NetworkRule, RuleOrigin } from "../../contract/network/policy.ts";

/** The policy as a person reads it, in the order in which it decides: bounds, denials, the rest, the default. */
export function describePolicy(policy: NetworkPolicy): PolicyAnswer["lines"] {
  const bounds = policy.bounds.flatMap(({ rules }) =>
    rules.map((rule) => ({ ...describeRule(rule), verdict: "bound" })),
  );
  const denials = policy.rules.filter(({ mode }) => mode === "deny").map(describeRule);
  // An exception is a rule as well; the line that names its address and reason says more.
  const isException = ({ host }: NetworkRule) => policy.exceptions.some(({ name }) => name === host.name);
  const others = policy.rules.filter((rule) => rule.mode !== "deny" && !isException(rule)).map(describeRule);
  const exceptions = policy.exceptions.map(({ name, address, port, reason, origin }) => ({
    verdict: "allow",
    what: `${name} is ${address}:${port} (${reason})`,
    rule: `exception:${name}`,
    where: describeOrigin(origin),
  }));
  const rest = { verdict: policy.default, what: "everything else", rule: "default", where: "" };
  return [...bounds, ...denials, ...others, ...exceptions, rest];
}

function describeRule(rule: NetworkRule): PolicyAnswer["lines"][number] {
  const host = rule.host.isWildcard ? `*.${rule.host.name}` : rule.host.name;
  const ports = rule.ports.length === 0 ? "80,443" : rule.ports.join(",");
  const methods = rule.methods.length === 0 ? "" : `${rule.methods.join(",")} `;
  const paths = rule.paths.length === 0 ? "" : ` ${rule.paths.join(" ")}`;
  const until = rule.expiresAtMs === undefined ? "" : ` until ${minuteOf(rule.expiresAtMs)}`;
  return {
    verdict: rule.mode,
    what: `${methods}${host}:${ports}${paths}${until}${rule.inspect ? " (inspected)" : ""}`,
    rule: rule.id,
    where: describeOrigin(rule.origin),
  };
}

/** The reader may be in another time zone than the daemon. */
const minuteOf = (atMs: number): string =>
  `${new Date(atMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;

function describeOrigin({ layer, file, line }: RuleOrigin): string {
  if (file === undefined) return layer;
  return line === undefined ? `${layer} ${file}` : `${layer} ${file}:${line}`;
}
