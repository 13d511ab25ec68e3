/**
 * A caller's view of the boxes. Every list and every lookup by name goes through here, except for callers of the host.
 */
import {
  type BoxRole,
  boxRoles,
  isOfHost,
  type PersonPrincipal,
  type Principal,
} from "../../contract/access/principal.ts";
import type { Scope } from "../../contract/access/scope-names.ts";
import type { AccessState } from "../../ports/access-records.ts";
import type { Store } from "../../ports/store.ts";
import { hasAuthority } from "./authority.ts";
import { type Caller, scopesOf } from "./caller.ts";

/** A thing that belongs to one life of a box, or to none. */
export interface OfBox {
  readonly box?: string | undefined;
  readonly incarnation?: string | undefined;
}

export interface Visibility extends Caller {
  /** Sees everything: its owner and admins. */
  readonly isOfHost: boolean;
  readonly scopes: readonly Scope[];
  /** Whether the caller's values are an order; for all others they are a request, as a manifest is. */
  readonly mayOrder: boolean;
  /** On the box that has the name now. */
  roleOn(box: string): Promise<BoxRole | undefined>;
  sees(box: string): Promise<boolean>;
  /** Whether an event or record is theirs to see; what belongs to no box is the host's. */
  shows(thing: OfBox): boolean;
  roleOnLife(thing: OfBox): BoxRole | undefined;
}

export interface VisibilityDeps {
  readonly state: () => AccessState;
  readonly findBox: Store["findBox"];
  readonly nowMs: () => number;
}

export function visibilityOf(caller: Caller, { state, findBox, nowMs }: VisibilityDeps): Visibility {
  const { principal } = caller;
  const isHost = isOfHost(principal);
  const roleOnLife = (thing: OfBox): BoxRole | undefined =>
    isHost ? "own" : roleOf(principal, thing, state(), nowMs());
  const roleOn = async (name: string): Promise<BoxRole | undefined> => {
    const box = await findBox(name);
    return box && roleOnLife({ box: box.name, incarnation: box.incarnation });
  };
  return {
    ...caller,
    isOfHost: isHost,
    scopes: scopesOf(principal),
    mayOrder: hasAuthority(caller, "trust"),
    roleOn,
    sees: async (name) => (await roleOn(name)) !== undefined,
    shows: (thing) => isHost || roleOnLife(thing) !== undefined,
    roleOnLife,
  };
}

/** SECURITY: by name and incarnation, or a share of a removed box would open the next one that has its name. */
function roleOf(principal: Principal, thing: OfBox, state: AccessState, nowMs: number): BoxRole | undefined {
  const { box, incarnation } = thing;
  if (box === undefined || incarnation === undefined) return undefined;
  if (principal.kind === "owner") return "own";
  if (principal.kind === "token") return roleOf(principal.of, thing, state, nowMs);
  if (principal.kind === "person") return roleOfPerson(principal, { box, incarnation }, state, nowMs);
  return principal.box === box && principal.incarnation === incarnation ? principal.may : undefined;
}

function roleOfPerson(
  { id, isAdmin }: PersonPrincipal,
  of: { readonly box: string; readonly incarnation: string },
  { boxOwners, shares }: AccessState,
  nowMs: number,
): BoxRole | undefined {
  const isIt = (one: { readonly box: string; readonly incarnation: string }): boolean =>
    one.box === of.box && one.incarnation === of.incarnation;
  if (isAdmin || boxOwners.some((one) => one.person === id && isIt(one))) return "own";
  const given = shares.filter(
    (share) => share.person === id && isIt(share) && (share.expiresAtMs ?? Infinity) > nowMs,
  );
  return boxRoles.findLast((role) => given.some(({ may }) => may === role));
}
