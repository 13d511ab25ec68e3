/**
 * The service behind ports/identity.ts: the authorization code flow with PKCE, state and nonce, and what follows it.
 */
import {
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
} from "openid-client";
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError, isAgentBoxError, messageOf } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { SignInSection } from "../../manifest/sections/web-section.ts";
import type { Identity, PersonClaims, Recheck, SignInAnswer, SignInChecks } from "../../ports/identity.ts";
import { boundedFetch, checkAddress } from "../connections/index.ts";
import { personFrom } from "./claims.ts";
import { LogoutNotices } from "./logout-notice.ts";
import { type KnownProvider, Providers, asSignInError } from "./provider.ts";

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;
type Fields = Readonly<Record<string, unknown>>;

export interface IdentityOptions {
  readonly clientSecret: (settings: SignInSection) => Promise<string | undefined>;
  readonly clock: Clock;
}

export function openIdentity({ clientSecret, clock }: IdentityOptions): Identity {
  const providers = new Providers({ clientSecret, clock, fetch: boundedFetch() });
  const notices = new LogoutNotices(clock);
  return {
    async begin(settings, redirectUri) {
      const provider = await providers.get(settings);
      return asSignInError(() => begin(settings, provider, redirectUri));
    },
    async finish(settings, checks, answer) {
      const provider = await providers.get(settings);
      return asSignInError(() => finish(settings, provider, checks, answer));
    },
    recheck: (settings, person) => recheck(settings, () => providers.get(settings), person),
    async readLogoutNotice(settings, token) {
      return notices.read(settings, await providers.get(settings), token);
    },
  };
}

async function begin(settings: SignInSection, { configuration }: KnownProvider, redirectUri: string) {
  const { authorization_endpoint: endpoint, scopes_supported = [] } = configuration.serverMetadata();
  // SECURITY: the person types a password there.
  checkAddress(endpoint ?? "");
  const checks: SignInChecks = {
    issuer: settings.issuer,
    redirectUri,
    state: randomState(),
    nonce: randomNonce(),
    verifier: randomPKCECodeVerifier(),
  };
  const offered = scopes_supported.includes("offline_access") ? ["offline_access"] : [];
  const scopes = new Set(["openid", "profile", "email", ...offered, ...(settings.scopes ?? [])]);
  const url = buildAuthorizationUrl(configuration, {
    ...settings.parameters,
    response_type: "code",
    redirect_uri: redirectUri,
    scope: [...scopes].join(" "),
    state: checks.state,
    nonce: checks.nonce,
    code_challenge: await calculatePKCECodeChallenge(checks.verifier),
    code_challenge_method: "S256",
  });
  return { url: url.href, checks };
}

async function finish(
  settings: SignInSection,
  { configuration }: KnownProvider,
  checks: SignInChecks,
  { code, state, iss, error }: SignInAnswer,
) {
  if (checks.issuer !== settings.issuer) {
    throw new AgentBoxError("sign_in.refused", "Another provider has been set up since the sign-in began.");
  }
  const answer = new URL(checks.redirectUri);
  for (const [name, value] of Object.entries({ code, state, iss, error }))
    if (value !== undefined) answer.searchParams.set(name, value);
  // SECURITY: the library compares state, nonce and issuer (mix-up), and checks the id token's signature, audience and time.
  const tokens = await authorizationCodeGrant(configuration, answer, {
    expectedState: checks.state,
    expectedNonce: checks.nonce,
    pkceCodeVerifier: checks.verifier,
    idTokenExpected: true,
  });
  const idToken = tokens.claims();
  if (idToken === undefined) throw new AgentBoxError("sign_in.refused", "The provider sent no id token.");
  const claims = personFrom(
    settings,
    idToken.sub,
    await withUserInfo(configuration, tokens, idToken.sub, idToken),
  );
  const sid = idToken["sid"];
  return {
    claims,
    ...(typeof sid === "string" && sid.length <= 256 ? { sid } : {}),
    ...omitUndefined({ refreshToken: tokens.refresh_token }),
  };
}

/** Many providers keep the id token small and tell groups only when asked. What was signed wins. */
async function withUserInfo(
  configuration: KnownProvider["configuration"],
  tokens: Tokens,
  subject: string,
  idToken: Fields,
): Promise<Fields> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return idToken;
  // SECURITY: the library refuses an answer about another subject (a swapped access token).
  const info: Fields = await fetchUserInfo(configuration, tokens.access_token, subject);
  return { ...info, ...idToken };
}

async function recheck(
  settings: SignInSection,
  provider: () => Promise<KnownProvider>,
  { subject, refreshToken }: { readonly subject: string; readonly refreshToken: string },
): Promise<Recheck> {
  try {
    const { configuration } = await provider();
    return await asSignInError(async () => {
      const tokens = await refreshTokenGrant(configuration, refreshToken);
      const idToken = tokens.claims();
      if (idToken !== undefined && idToken.sub !== subject)
        throw new AgentBoxError("sign_in.refused", "The provider's answer is about another person.");
      const fields = await withUserInfo(configuration, tokens, subject, idToken ?? {});
      const claims: PersonClaims | undefined =
        Object.keys(fields).length === 0 ? undefined : personFrom(settings, subject, fields);
      return {
        outcome: "confirmed" as const,
        ...omitUndefined({ claims, refreshToken: tokens.refresh_token }),
      };
    });
  } catch (error) {
    const isNo = isAgentBoxError(error) && error.code === "sign_in.refused";
    return { outcome: isNo ? "ended" : "unknown", reason: messageOf(error) };
  }
}
