import type { Principal } from "../../contract/access/principal.ts";
import { type Scope, scopes } from "../../contract/access/scope-names.ts";

/** The credential of a caller; all that they have open ends when it does. */
export type Credential =
  | { readonly kind: "socket" }
  | { readonly kind: "session"; readonly id: string }
  | { readonly kind: "token"; readonly id: string };

export interface Caller {
  readonly principal: Principal;
  readonly credential: Credential;
}

/** A caller that can open the daemon's own socket is its owner; the file system has seen to that. */
export const socketOwner: Caller = { principal: { kind: "owner" }, credential: { kind: "socket" } };

export function scopesOf(principal: Principal): readonly Scope[] {
  if (principal.kind === "owner" || principal.kind === "person") return scopes;
  if (principal.kind === "token") return principal.scopes;
  return principal.may === "work" ? ["read", "work"] : ["read"];
}

/** For people and the log. */
export function nameOf(principal: Principal): string {
  if (principal.kind === "owner") return "owner";
  return principal.kind === "guest" ? `guest of ${principal.box}` : principal.name;
}

/** Which person, token or share it is; none of these ids is a credential. */
export function idOf(principal: Principal): string | undefined {
  if (principal.kind === "guest") return principal.share;
  return principal.kind === "owner" ? undefined : principal.id;
}
