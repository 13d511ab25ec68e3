/** From what a provider says about a person to what is kept of it: bounded, and readable on one line. */
import { z } from "zod";
import { printable } from "../../base/printable.ts";
import type { SignInSection } from "../../manifest/sections/web-section.ts";
import type { PersonClaims } from "../../ports/identity.ts";

const maxGroups = 2_000;
const maxGroupLength = 256;
const google = "https://accounts.google.com";

/** Tolerant, as providers add what they like. */
const Known = z.object({
  name: z.string().optional().catch(undefined),
  preferred_username: z.string().optional().catch(undefined),
  email: z.email().max(320).optional().catch(undefined),
  // Some send it as text.
  email_verified: z
    .union([z.boolean(), z.literal("true")])
    .optional()
    .catch(undefined),
  hd: z.string().optional().catch(undefined),
});

export function personFrom(
  settings: SignInSection,
  subject: string,
  idToken: Readonly<Record<string, unknown>>,
): PersonClaims {
  const { name, preferred_username, email, email_verified, hd } = Known.parse(idToken);
  const { issuer } = settings;
  // SECURITY: at Google anyone can have an account with an address of your domain; only `hd` says that it is the
  // domain's own.
  const isOfDomain = issuer !== google || (hd !== undefined && email?.toLowerCase().endsWith(`@${hd}`));
  const isEmailVerified = email !== undefined && (email_verified ?? false) !== false && isOfDomain === true;
  const shown = printable((name ?? preferred_username ?? email ?? subject).slice(0, 120)).trim();
  return {
    issuer,
    subject,
    name: shown === "" ? printable(subject.slice(0, 120)) : shown,
    ...(email === undefined ? {} : { email: email.toLowerCase() }),
    isEmailVerified,
    groups: groupsIn(settings.groups_claim ?? "groups", idToken, isEmailVerified),
  };
}

function groupsIn(
  claim: string,
  idToken: Readonly<Record<string, unknown>>,
  isEmailVerified: boolean,
): readonly string[] {
  // SECURITY: where people write their own address, it must not make them a member of anything.
  if (claim === "email" && !isEmailVerified) return [];
  const value = Object.hasOwn(idToken, claim) ? idToken[claim] : undefined;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list
    .slice(0, maxGroups)
    .filter((group): group is string => typeof group === "string" && group.length <= maxGroupLength);
}
