/** People of a team: who may come in, who is an admin, and what is remembered of them. */
import { createHash } from "node:crypto";
import { AgentBoxError } from "../../base/errors.ts";
import type { SignInSection } from "../../manifest/sections/web-section.ts";
import type { AccessState, PersonRecord } from "../../ports/access-records.ts";
import type { PersonClaims } from "../../ports/identity.ts";

/** SECURITY: the records are written anew with each sign-in, so they may not grow without end. */
const maxPeople = 5_000;

/** The same person for ever, and another one at another provider, even if name and address are the same. */
export const personId = ({
  issuer,
  subject,
}: {
  readonly issuer: string;
  readonly subject: string;
}): string =>
  createHash("sha256")
    .update(JSON.stringify([issuer, subject]))
    .digest("hex")
    .slice(0, 24);

export type PersonDecision =
  | { readonly allow: true; readonly isAdmin: boolean }
  | { readonly allow: false; readonly reason: "group" | "domain" | "open_provider" };

/** Whether a person whom the provider knows may come in here. */
export function decidePerson(settings: SignInSection, claims: PersonClaims): PersonDecision {
  const { admin_group, allowed_groups, allowed_domains } = settings;
  if (claims.issuer !== settings.issuer) return { allow: false, reason: "group" };
  if (admin_group !== undefined && claims.groups.includes(admin_group)) return { allow: true, isAdmin: true };
  if (allowed_groups === undefined && allowed_domains === undefined && isOpenToAll(settings.issuer))
    return { allow: false, reason: "open_provider" };
  if (allowed_groups !== undefined && !allowed_groups.some((group) => claims.groups.includes(group)))
    return { allow: false, reason: "group" };
  if (allowed_domains !== undefined && !isOfDomain(claims, allowed_domains))
    return { allow: false, reason: "domain" };
  return { allow: true, isAdmin: false };
}

/** SECURITY: a person who may write their own address could write any other's. */
const isOfDomain = ({ email, isEmailVerified }: PersonClaims, domains: readonly string[]): boolean =>
  isEmailVerified && domains.some((domain) => email?.split("@").at(-1) === domain.toLowerCase());

/** SECURITY: anyone in the world can have an account there, so without a list no one may come in. */
const isOpenToAll = (issuer: string): boolean => {
  const { host, pathname } = new URL(issuer);
  return openHosts.has(host) || (host === "login.microsoftonline.com" && openTenants.test(pathname));
};

const openHosts: ReadonlySet<string> = new Set([
  "accounts.google.com",
  "appleid.apple.com",
  "gitlab.com",
  "id.twitch.tv",
  "slack.com",
  "www.facebook.com",
  "www.linkedin.com",
]);
/** Other tenants are one organisation each; the number is that of personal accounts. */
const openTenants = /^\/(?:common|consumers|organizations|9188040d-6c67-4c5b-b112-36a304b66dad)(?:\/|$)/i;

export const notAllowed = ({ name }: PersonClaims, reason: string): AgentBoxError =>
  new AgentBoxError("sign_in.refused", `${name} may not sign in here (${reason}).`, {
    hint: "Ask an admin of this installation, who can see in [web.sign_in] of config.toml who may.",
  });

/** Everything that the provider says now replaces what it said before. */
export function withPerson(
  state: AccessState,
  claims: PersonClaims,
  facts: { readonly isAdmin: boolean; readonly nowMs: number; readonly isSignIn: boolean },
): AccessState {
  const id = personId(claims);
  const before = state.people.find((one) => one.id === id);
  const person: PersonRecord = {
    id,
    issuer: claims.issuer,
    subject: claims.subject,
    name: claims.name,
    ...(claims.email === undefined ? {} : { email: claims.email, isEmailVerified: claims.isEmailVerified }),
    isAdmin: facts.isAdmin,
    signedInAtMs: facts.isSignIn ? facts.nowMs : (before?.signedInAtMs ?? facts.nowMs),
    confirmedAtMs: facts.nowMs,
  };
  const others = state.people.filter((one) => one.id !== id).slice(-(maxPeople - 1));
  return { ...state, people: [...others, person] };
}

/** No credential of theirs works until they sign in again. */
export const withBarred = (state: AccessState, id: string): AccessState => ({
  ...state,
  people: state.people.map((one) => (one.id === id ? { ...one, isBarred: true, isAdmin: false } : one)),
  sessions: state.sessions.filter(({ holder }) => holder.kind !== "person" || holder.person !== id),
});
