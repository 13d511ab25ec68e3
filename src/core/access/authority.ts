/**
 * How far a caller's values count, beyond the routes they may use. A token's values are a request and never an order;
 * files and programs of the host are named by the owner, at the daemon's own socket.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { isOfHost } from "../../contract/access/principal.ts";
import type { Limit, Need } from "../../contract/access/limits/limit.ts";
import { type RouteName, routeTable } from "../../contract/api/routes.ts";
import type { Using } from "../using.ts";
import { type Caller, idOf } from "./caller.ts";

export function hasAuthority({ principal, credential }: Caller, need: Need): boolean {
  if (credential.kind === "socket") return true;
  if (principal.kind === "token") {
    if (need === "export") return isOfHost(principal) && principal.scopes.includes("export");
    if (need === "socket" || !principal.scopes.includes("trust")) return false;
    return need === "look" || isOfHost(principal);
  }
  if (need === "look") return true;
  return need === "trust" && isOfHost(principal);
}

/** Refuses the parameters that take more than the route, as far as the body says. */
export function requireAuthority(
  core: Using<"access">,
  caller: Caller,
  route: RouteName,
  body: unknown,
): void {
  for (const limit of limitsOf(route))
    if (limit.isAsked?.(body as never) === true) requireWithin(core, caller, route, limit);
}

/** For what only a handler can tell. */
export function requireParameter(
  core: Using<"access">,
  caller: Caller,
  route: RouteName,
  parameter: string,
): void {
  for (const limit of limitsOf(route))
    if (limit.parameter === parameter) requireWithin(core, caller, route, limit);
}

const limitsOf = (route: RouteName): readonly Limit[] => routeTable[route].limits ?? [];

function requireWithin(core: Using<"access">, caller: Caller, route: RouteName, limit: Limit): void {
  const { parameter, needs } = limit;
  if (hasAuthority(caller, needs)) return;
  const { principal } = caller;
  core.access.refused("authority", { route, parameter, needs, who: principal.kind, id: idOf(principal) });
  throw new AgentBoxError("access.forbidden", `${whose(caller, limit)} ${limit.what}.`, {
    hint: isOfHost(principal)
      ? `This needs a yes at the command line: ${limit.instead}`
      : "Ask the owner or an admin.",
    facts: { route, reason: "authority", parameter, needs },
  });
}

function whose({ principal }: Caller, { needs }: Limit): string {
  if (principal.kind === "token") {
    const scope = needs === "export" ? "export" : "trust";
    const without = needs === "socket" ? "" : ` without the scope "${scope}"`;
    return `An access token${without} cannot`;
  }
  return needs === "trust" ? "Only the owner and admins can" : "Only the owner, at the command line, can";
}
