/** Whether a rule is about a request. Pure. */
import { deniesPath, permitsPath } from "../../contract/network/path-readings.ts";
import type { EgressRequest, NetworkRule } from "../../contract/network/policy.ts";

const webPorts: readonly number[] = [80, 443];

export const isLive = ({ expiresAtMs }: NetworkRule, nowMs: number): boolean =>
  expiresAtMs === undefined || nowMs < expiresAtMs;

export function coversPort({ ports, mode }: Pick<NetworkRule, "ports" | "mode">, port: number): boolean {
  if (ports.length > 0) return ports.includes(port);
  return mode === "deny" || webPorts.includes(port);
}

/** Whether requests must be read to tell if the rule is about them. */
export const hasConditions = ({ methods, paths }: NetworkRule): boolean =>
  methods.length > 0 || paths.length > 0;

/** `unknown`: the request has not been read yet, and what is not known decides. */
export type Fit = "yes" | "unknown" | "wrong_method" | "wrong_path" | "malformed" | "overridden";

/**
 * How method and path of a request fit a rule for its host and port.
 *
 * SECURITY: a path with two readings fits no permission that is about paths, and every denial. The same holds for a
 * header or parameter that a server may obey in place of the method or the path.
 */
export function fitOf(rule: NetworkRule, request: EgressRequest): Fit {
  const { methods, paths } = rule;
  const { overrides } = request;
  const isMethodOpen = methods.length > 0 && overrides?.method !== undefined;
  const isPathOpen = paths.length > 0 && overrides?.path !== undefined;
  const misfit = methodMisfit(rule, request, isMethodOpen) ?? pathMisfit(rule, request, isPathOpen);
  if (misfit !== undefined) return misfit;
  if (isMethodOpen || isPathOpen) return "overridden";
  const isUnread =
    (methods.length > 0 && request.method === undefined) || (paths.length > 0 && request.path === undefined);
  return isUnread ? "unknown" : "yes";
}

function methodMisfit(
  { methods, mode }: NetworkRule,
  { method }: EgressRequest,
  isOpen: boolean,
): Fit | undefined {
  if (methods.length === 0 || method === undefined || methods.includes(method)) return undefined;
  // SECURITY: servers answer HEAD with the handler of GET.
  const isDenied = mode === "deny" && (isOpen || (method === "HEAD" && methods.includes("GET")));
  return isDenied ? undefined : "wrong_method";
}

function pathMisfit({ paths, mode }: NetworkRule, { path }: EgressRequest, isOpen: boolean): Fit | undefined {
  if (paths.length === 0 || path === undefined) return undefined;
  if (mode === "deny") return isOpen || deniesPath(paths, path) ? undefined : "wrong_path";
  const isPermitted = permitsPath(paths, path);
  return isPermitted === true ? undefined : isPermitted === false ? "wrong_path" : "malformed";
}

/** The rules with the most exact host: the name itself before wildcards, longer wildcards before shorter ones. */
export function mostExact(rules: readonly NetworkRule[]): NetworkRule[] {
  const rank = ({ host }: NetworkRule): number => (host.isWildcard ? host.name.split(".").length : Infinity);
  const best = Math.max(...rules.map(rank));
  return rules.filter((rule) => rank(rule) === best);
}
