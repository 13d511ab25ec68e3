/** The authorization code flow: PKCE always, a state always, a nonce where an id token comes, the issuer compared. */
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { checkAddress } from "./bounded-fetch.ts";
import { openCallbackListener } from "./callback-listener.ts";
import { type BegunFlow, type FlowContext, maxLifetimeMs } from "./flow.ts";
import type { Provider } from "./provider.ts";

interface Checks {
  readonly pkceCodeVerifier: string;
  readonly expectedState: string;
  readonly expectedNonce?: string;
}

export async function beginCodeFlow(context: FlowContext): Promise<BegunFlow> {
  const { plan, provider, settle } = context;
  const { authorization_endpoint: begins } = provider.configuration.serverMetadata();
  if (begins === undefined) {
    throw new AgentBoxError("connection.failed", "The service has no page to sign in at.", {
      hint: "Use --device, or give --authorization-endpoint.",
    });
  }
  checkAddress(begins);
  const checks: Checks = {
    pkceCodeVerifier: randomPKCECodeVerifier(),
    expectedState: randomState(),
    ...(plan.scopes.includes("openid") ? { expectedNonce: randomNonce() } : {}),
  };
  const listener = await openCallbackListener({
    state: checks.expectedState,
    port: plan.redirectPort,
    onAnswer: (answer) => settle(() => exchange(provider, answer, checks)),
  });
  const url = buildAuthorizationUrl(provider.configuration, {
    ...plan.parameters,
    redirect_uri: listener.redirectUri,
    state: checks.expectedState,
    code_challenge: await calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
    ...omitUndefined({ nonce: checks.expectedNonce }),
    ...(plan.scopes.length === 0 ? {} : { scope: plan.scopes.join(" ") }),
  });
  return { url: url.href, lifetimeMs: maxLifetimeMs, close: () => listener.close() };
}

async function exchange(provider: Provider, answer: URL, checks: Checks): Promise<unknown> {
  if (!provider.isNamed) acceptOwnName(answer, provider.configuration.serverMetadata().issuer);
  // The library compares `iss` with the issuer and `state` with ours, and sends the redirect address it came by.
  return authorizationCodeGrant(provider.configuration, answer, { ...checks });
}

/**
 * SECURITY: a code from another service must not be sent to this one (mix-up). Where the issuer is not configured, the
 * check can only require a name of the service's own origin.
 */
function acceptOwnName(answer: URL, origin: string): void {
  const names = answer.searchParams.getAll("iss");
  if (!names.every((name) => URL.canParse(name) && new URL(name).origin === origin)) {
    throw new AgentBoxError("connection.failed", "The answer is that of another service.");
  }
  answer.searchParams.delete("iss");
}
