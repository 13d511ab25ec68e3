/**
 * The identity of a person, by the word of the team's OpenID provider. Guarantees:
 * - A person is identified only by an id token that the provider signed, for this client and for this very sign-in.
 * - A provider that is away is an error of that request (`sign_in.unavailable`), never an end of the daemon and never a yes.
 * - A refusal of the provider, and parts that do not belong together, are `sign_in.refused`; no message holds a code or a token.
 */
import type { SignInSection } from "../manifest/sections/web-section.ts";

/** The provider's claims about a person. All of it is text that others may have written. */
export interface PersonClaims {
  readonly issuer: string;
  /** Names the person for ever, at this issuer. */
  readonly subject: string;
  readonly name: string;
  readonly email?: string;
  /** Whether the provider says that the address is really the person's. */
  readonly isEmailVerified: boolean;
  readonly groups: readonly string[];
}

/**
 * The values that must come back from the browser, and those with which the code is exchanged. Never leaves the daemon.
 */
export interface SignInChecks {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The parameters with which the provider has sent the browser back. */
export interface SignInAnswer {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

export interface SignedIn {
  readonly claims: PersonClaims;
  /** The provider's own name of the session, which a logout notice can use. */
  readonly sid?: string;
  readonly refreshToken?: string;
}

export type Recheck =
  /** The person still is who they were; claims are there when the provider told them again. */
  | { readonly outcome: "confirmed"; readonly claims?: PersonClaims; readonly refreshToken?: string }
  /** The provider has said no. */
  | { readonly outcome: "ended"; readonly reason: string }
  /** Unknown: it could not be asked. */
  | { readonly outcome: "unknown"; readonly reason: string };

/** At least one of them is there. */
export interface LogoutNotice {
  readonly issuer: string;
  readonly subject?: string;
  readonly sid?: string;
}

export interface Identity {
  begin(settings: SignInSection, redirectUri: string): Promise<{ url: string; checks: SignInChecks }>;
  /** Each set of checks is for one answer; its keeper forgets it before. */
  finish(settings: SignInSection, checks: SignInChecks, answer: SignInAnswer): Promise<SignedIn>;
  /** Asks again about a person who is signed in. Never fails. */
  recheck(
    settings: SignInSection,
    person: { readonly subject: string; readonly refreshToken: string },
  ): Promise<Recheck>;
  /**
   * Checks a notice that claims to be the provider's word that a person has signed out there. Each notice is taken
   * once.
   */
  readLogoutNotice(settings: SignInSection, token: string): Promise<LogoutNotice>;
}
