import { z } from "zod";
import { Scope } from "./scope.ts";

/** The roles on one box; each includes those before it. */
export const boxRoles = ["look", "work", "own"] as const;
export const BoxRole = z.enum(boxRoles);
export type BoxRole = z.infer<typeof BoxRole>;

export const includesRole = (role: BoxRole | undefined, wanted: BoxRole): boolean =>
  role !== undefined && boxRoles.indexOf(role) >= boxRoles.indexOf(wanted);

/** The roles that a share can give; a box cannot be given away. */
export const ShareRole = z.enum(["look", "work"]);
export type ShareRole = z.infer<typeof ShareRole>;

interface OwnerPrincipal {
  readonly kind: "owner";
}

/** A person of the team, who signed in with the provider. */
export interface PersonPrincipal {
  readonly kind: "person";
  readonly id: string;
  readonly name: string;
  readonly isAdmin: boolean;
}

/** The holder of the session that a shared link became: one box, and no other. */
interface GuestPrincipal {
  readonly kind: "guest";
  readonly share: string;
  readonly box: string;
  readonly incarnation: string;
  readonly may: ShareRole;
}

/** A program that acts for a person, limited to scopes. */
interface TokenPrincipal {
  readonly kind: "token";
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly of: OwnerPrincipal | PersonPrincipal;
}

/** Who is asking. */
export type Principal = OwnerPrincipal | PersonPrincipal | GuestPrincipal | TokenPrincipal;

/** For whom the host itself is: its owner, and admins of the team. */
export function isOfHost(principal: Principal): boolean {
  if (principal.kind === "token") return isOfHost(principal.of);
  return principal.kind === "owner" || (principal.kind === "person" && principal.isAdmin);
}

/** The page's view of its own user. */
export const Me = z.object({
  kind: z.enum(["owner", "person", "guest", "token"]),
  name: z.string(),
  isAdmin: z.boolean().describe("Whether the host itself is in reach: every box, the vault, the daemon."),
  scopes: z.array(Scope),
  person: z.string().optional().describe("Id of the person, where it is one of a team."),
  box: z.string().optional().describe("The only box there is for a guest."),
  may: ShareRole.optional().describe("What a guest may do with it."),
  signIn: z.string().optional().describe("Id of this sign-in, as in /v1/sign-ins."),
  expiresAtMs: z.int().optional(),
});
export type Me = z.infer<typeof Me>;
