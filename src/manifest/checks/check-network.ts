import { suggest } from "../../base/suggest.ts";
import { parseExceptionAddress } from "../../contract/network/exception-address.ts";
import { type HostPatternProblem, parseHostPattern } from "../../contract/network/host-pattern.ts";
import { pathPatternProblem } from "../../contract/network/path-pattern.ts";
import type { Check, CheckContext } from "./check-context.ts";
import { type Problem, quote } from "../finding.ts";
import type { NetworkRuleEntry, NetworkSection } from "../sections/network-section.ts";
import type { Path } from "../path.ts";

const minReason = 8;

/** The rules of every file that has a [network]. */
export const checkNetwork: Check = ({ network = {} }, context) => [
  ...(network.allow ?? []).flatMap((host, i) => checkHost(host, ["network", "allow", i])),
  ...(network.only ?? []).flatMap((host, i) => checkHost(host, ["network", "only", i])),
  ...(network.presets ?? []).flatMap((name, i) => checkPreset(name, ["network", "presets", i], context)),
  ...(network.rules ?? []).flatMap((rule, i) => checkRule(rule, ["network", "rules", i], context)),
  ...checkExceptions(network.exceptions ?? {}),
];

/** SECURITY: a repository asks within the bound; it does not set it. */
export const checkRequest: Check = ({ network = {} }) =>
  network.only === undefined
    ? []
    : [
        {
          code: "E042",
          path: ["network", "only"],
          at: "key",
          message: "network.only is set by the owner of the machine.",
          hint: "Use allow here; only belongs in the user config or the host policy.",
        },
      ];

const hostCodes = { unreadable: "E033", too_wide: "E034", not_public: "E035" } as const satisfies Record<
  HostPatternProblem["problem"],
  string
>;

function checkHost(host: string, path: Path, isDenial = false): Problem[] {
  const parsed = parseHostPattern(host, { isDenial });
  return "problem" in parsed ? [hostProblem(host, parsed, path)] : [];
}

export function hostProblem(
  host: string,
  { problem, reason, hint }: HostPatternProblem,
  path: Path,
): Problem {
  const message = `The host ${quote(host)} cannot be used: ${reason}.`;
  return { code: hostCodes[problem], path, message, hint };
}

function checkPreset(name: string, path: Path, { presets }: CheckContext): Problem[] {
  if (presets === undefined || presets.includes(name)) return [];
  const meant = suggest(name, presets);
  const hint = meant ? `Did you mean "${meant}"?` : `Known: ${presets.join(", ")}.`;
  return [{ code: "E036", path, message: `There is no preset named ${quote(name)}.`, hint }];
}

function checkRule(rule: NetworkRuleEntry, path: Path, { nowMs }: CheckContext): Problem[] {
  const problems = checkHost(rule.host, [...path, "host"], rule.mode === "deny");
  if (problems.length === 0 && rule.host.includes(":")) {
    const message = `The host ${quote(rule.host)} of a rule has a port in it.`;
    problems.push({ code: "E033", path: [...path, "host"], message, hint: "Write the port into ports." });
  }
  problems.push(...checkPaths(rule.paths ?? [], [...path, "paths"]));
  if (rule.expires !== undefined && nowMs !== undefined && Date.parse(rule.expires) <= nowMs) {
    const message = `The rule for ${quote(rule.host)} ended at ${rule.expires}.`;
    problems.push({
      code: "W005",
      path: [...path, "expires"],
      message,
      hint: "Remove it, or choose a later end.",
    });
  }
  return problems;
}

export function checkPaths(patterns: readonly string[], path: Path): Problem[] {
  return patterns.flatMap((pattern, index): Problem[] => {
    const reason = pathPatternProblem(pattern);
    if (reason === undefined) return [];
    const message = `The path ${quote(pattern)} cannot be used: ${reason}.`;
    const hint = 'Write it from the first slash, without dots and encoded slashes, such as "/api/v1/**".';
    return [{ code: "E037", path: [...path, index], message, hint }];
  });
}

function checkExceptions(exceptions: NonNullable<NetworkSection["exceptions"]>): Problem[] {
  return Object.entries(exceptions).flatMap(([name, { address, reason }]): Problem[] => {
    const path = ["network", "exceptions", name];
    const problems: Problem[] = [];
    const parsed = parseExceptionAddress(address);
    if ("problem" in parsed) {
      const message = `The address ${quote(address)} cannot be opened: ${parsed.problem}.`;
      const hint = 'Write one address and its port, such as "10.0.0.5:5432".';
      problems.push({ code: "E040", path: [...path, "address"], message, hint });
    }
    if (reason.trim().length < minReason) {
      const message = `The reason ${quote(reason)} says nothing.`;
      const hint = "Say in a few words what the box needs it for.";
      problems.push({ code: "E014", path: [...path, "reason"], message, hint });
    }
    return problems;
  });
}
