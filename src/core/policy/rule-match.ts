/** Whether a rule is about a request. Pure. */
import { canonicalPath, matchesPath } from "../../contract/network/path-pattern.ts";
import type { EgressRequest, NetworkRule } from "../../contract/network/policy.ts";

const webPorts: readonly number[] = [80, 443];

export const isLive = ({ expiresAtMs }: NetworkRule, nowMs: number): boolean =>
  expiresAtMs === undefined || nowMs < expiresAtMs;

export function coversPort({ ports, mode }: NetworkRule, port: number): boolean {
  if (ports.length > 0) return ports.includes(port);
  return mode === "deny" || webPorts.includes(port);
}

/** Whether requests must be read to tell if the rule is about them. */
export const hasConditions = ({ methods, paths }: NetworkRule): boolean =>
  methods.length > 0 || paths.length > 0;

/** `unknown`: the request has not been read yet, and what is not known decides. */
export type Fit = "yes" | "unknown" | "wrong_method" | "wrong_path" | "malformed";

/**
 * How method and path of a request fit a rule for its host and port.
 *
 * SECURITY: a path with two readings fits no permission that is about paths, and every denial.
 */
export function fitOf({ methods, paths, mode }: NetworkRule, request: EgressRequest): Fit {
  if (methods.length > 0 && request.method !== undefined && !methods.includes(request.method))
    return "wrong_method";
  if (paths.length > 0 && request.path !== undefined) {
    const path = canonicalPath(request.path);
    if (path === undefined && mode !== "deny") return "malformed";
    if (path !== undefined && !paths.some((pattern) => matchesPath(pattern, path))) return "wrong_path";
  }
  const isUnread =
    (methods.length > 0 && request.method === undefined) || (paths.length > 0 && request.path === undefined);
  return isUnread ? "unknown" : "yes";
}

/** The rules with the most exact host: the name itself before wildcards, longer wildcards before shorter ones. */
export function mostExact(rules: readonly NetworkRule[]): NetworkRule[] {
  const rank = ({ host }: NetworkRule): number => (host.isWildcard ? host.name.split(".").length : Infinity);
  const best = Math.max(...rules.map(rank));
  return rules.filter((rule) => rank(rule) === best);
}
