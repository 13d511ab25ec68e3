import { type BoxRole, includesRole, isOfHost, type Principal } from "../../contract/access/principal.ts";
import type { RouteAccess } from "../../contract/api/route.ts";
import { scopesOf } from "./caller.ts";

/** `unseen`: the box belongs to another person, and must look as if it did not exist. */
export type ReachDecision =
  | { readonly allow: true }
  | { readonly allow: false; readonly reason: "scope" | "role" | "host" | "guest" | "unseen" };

const no = (reason: Exclude<ReachDecision, { allow: true }>["reason"]): ReachDecision => ({
  allow: false,
  reason,
});
const yes: ReachDecision = { allow: true };

/** Whether a caller may use a route. `role` is theirs on the route's box; without a box it does not matter. */
export function decideReach(
  principal: Principal,
  { scope, reach }: RouteAccess,
  role: BoxRole | undefined,
): ReachDecision {
  const isBoxed = reach === "look" || reach === "work" || reach === "own";
  // Before the scope: a caller who does not see a box must not learn that it exists.
  if (isBoxed && role === undefined && !isOfHost(principal)) return no("unseen");
  if (scope !== "none" && !scopesOf(principal).includes(scope)) return no("scope");
  if (reach === "anyone" || reach === "visible") return yes;
  if (reach === "member") return principal.kind === "guest" ? no("guest") : yes;
  if (reach === "host") return isOfHost(principal) ? yes : no("host");
  return isOfHost(principal) || includesRole(role, reach) ? yes : no("role");
}
