/**
 * The service as the OAuth library sees it: discovered from its issuer, or from endpoints that were given. Id tokens
 * are checked with the issuer's keys, and every request goes through the bounded fetch.
 */
import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  None,
  type ServerMetadata,
  allowInsecureRequests,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
} from "openid-client";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { OAuthTokens } from "../../contract/secret/connection.ts";
import { type BoundedFetch, requestTimeoutMs } from "./bounded-fetch.ts";
import type { SignInPlan } from "./sign-in-plan.ts";

type ClientAuthKind = OAuthTokens["clientAuth"];

export interface Provider {
  readonly configuration: Configuration;
  readonly clientAuth: ClientAuthKind;
  /** Whether the issuer is known, and not only guessed from an endpoint. */
  readonly isNamed: boolean;
}

export async function openProvider(
  plan: SignInPlan,
  clientSecret: string | undefined,
  fetch: BoundedFetch,
): Promise<Provider> {
  const { issuer, endpoints, clientId } = plan;
  if (endpoints !== undefined) {
    const server: ServerMetadata = {
      issuer: issuer ?? new URL(endpoints.authorization ?? endpoints.token).origin,
      token_endpoint: endpoints.token,
      ...omitUndefined({
        authorization_endpoint: endpoints.authorization,
        device_authorization_endpoint: endpoints.device,
      }),
    };
    return { ...configure(server, clientId, clientSecret, fetch), isNamed: issuer !== undefined };
  }
  // SECURITY: the library refuses a document whose issuer is another than the one asked for (a forged issuer).
  const found = await discovery(new URL(issuer!), clientId, undefined, None(), {
    [customFetch]: fetch,
    timeout: requestTimeoutMs / 1_000,
    // SECURITY: the library knows only "https or anything"; the bounded fetch refuses what is neither https nor this host.
    execute: [allowInsecureRequests],
  });
  return { ...configure({ ...found.serverMetadata() }, clientId, clientSecret, fetch), isNamed: true };
}

/** For a token that is kept: only its endpoint is needed. */
export function providerOf(
  { issuer, tokenEndpoint, clientId, clientAuth }: OAuthTokens,
  clientSecret: string | undefined,
  fetch: BoundedFetch,
): Configuration {
  const server = { issuer: issuer ?? new URL(tokenEndpoint).origin, token_endpoint: tokenEndpoint };
  return bounded(
    new Configuration(server, clientId, undefined, clientAuthOf(clientAuth, clientSecret)),
    fetch,
  );
}

function configure(
  server: ServerMetadata,
  clientId: string,
  clientSecret: string | undefined,
  fetch: BoundedFetch,
): Omit<Provider, "isNamed"> {
  const offered = server.token_endpoint_auth_methods_supported;
  const clientAuth: ClientAuthKind =
    offered !== undefined && !offered.includes("client_secret_post") ? "basic" : "post";
  const configuration = bounded(
    new Configuration(server, clientId, undefined, clientAuthOf(clientAuth, clientSecret)),
    fetch,
  );
  // SECURITY: otherwise the signature of an id token is taken for granted because it came over TLS.
  if (server.jwks_uri !== undefined) enableNonRepudiationChecks(configuration);
  return { configuration, clientAuth };
}

const clientAuthOf = (kind: ClientAuthKind, secret: string | undefined): ClientAuth =>
  secret === undefined ? None() : kind === "basic" ? ClientSecretBasic(secret) : ClientSecretPost(secret);

function bounded(configuration: Configuration, fetch: BoundedFetch): Configuration {
  configuration[customFetch] = fetch;
  configuration.timeout = requestTimeoutMs / 1_000;
  allowInsecureRequests(configuration);
  return configuration;
}
