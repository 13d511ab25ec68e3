/**
 * The team's provider as the OpenID library sees it. It is looked up when it is needed and kept for an hour; one that
 * is away is asked again the next time.
 */
import { type JWTVerifyGetKey, createRemoteJWKSet, customFetch as joseFetch } from "jose";
import {
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  None,
  allowInsecureRequests,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
} from "openid-client";
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import type { SignInSection } from "../../manifest/sections/web-section.ts";
import { type BoundedFetch, checkAddress, failureOf, requestTimeoutMs } from "../connections/index.ts";

export interface KnownProvider {
  readonly configuration: Configuration;
  /** The keys with which it signs. */
  readonly keys: JWTVerifyGetKey;
}

const keptMs = 3_600_000;

export interface ProvidersOptions {
  /** The client's own secret; undefined for a client that has none. */
  readonly clientSecret: (settings: SignInSection) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly fetch: BoundedFetch;
}

export class Providers {
  readonly #options: ProvidersOptions;
  #known: { readonly key: string; readonly untilMs: number; readonly provider: KnownProvider } | undefined;

  constructor(options: ProvidersOptions) {
    this.#options = options;
  }

  async get(settings: SignInSection): Promise<KnownProvider> {
    const { clientSecret, clock } = this.#options;
    const secret = await clientSecret(settings);
    const key = JSON.stringify([settings.issuer, settings.client_id, secret ?? null]);
    const nowMs = clock.monotonicMs();
    if (this.#known?.key === key && nowMs < this.#known.untilMs) return this.#known.provider;
    const provider = await asSignInError(() => this.#find(settings, secret));
    this.#known = { key, untilMs: nowMs + keptMs, provider };
    return provider;
  }

  async #find({ issuer, client_id }: SignInSection, secret: string | undefined): Promise<KnownProvider> {
    const { fetch } = this.#options;
    checkAddress(issuer);
    // SECURITY: the library refuses a document that names another issuer than the one asked for.
    const found = await discovery(new URL(issuer), client_id, undefined, None(), {
      [customFetch]: fetch,
      timeout: requestTimeoutMs / 1_000,
      // SECURITY: the bounded fetch refuses what is neither https nor this very host; the library knows only all or nothing.
      execute: [allowInsecureRequests],
    });
    const server = { ...found.serverMetadata() };
    const { jwks_uri, token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
    if (jwks_uri === undefined) {
      throw new AgentBoxError("sign_in.unavailable", "The provider names no keys that it signs with.");
    }
    const auth =
      secret === undefined
        ? None()
        : methods.includes("client_secret_basic")
          ? ClientSecretBasic(secret)
          : ClientSecretPost(secret);
    const configuration = new Configuration(server, client_id, undefined, auth);
    configuration[customFetch] = fetch;
    configuration.timeout = requestTimeoutMs / 1_000;
    allowInsecureRequests(configuration);
    // SECURITY: otherwise an id token that came over TLS is believed without a look at its signature.
    enableNonRepudiationChecks(configuration);
    const keys = createRemoteJWKSet(new URL(jwks_uri), {
      [joseFetch]: (url, { method, headers, signal }) =>
        fetch(url, { method, headers: Object.fromEntries(headers), signal }),
    });
    return { configuration, keys };
  }
}

/** The failure between us and the provider, in words that hold nothing of the request. */
export async function asSignInError<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (isAgentBoxError(error) && error.code.startsWith("sign_in.")) throw error;
    const { kind, sentence } = failureOf(error);
    if (kind === "refused") throw new AgentBoxError("sign_in.refused", sentence);
    throw new AgentBoxError("sign_in.unavailable", `The sign-in cannot go on. ${sentence}`, {
      hint: "Try again in a moment. If it stays so, look at [web.sign_in] in config.toml and at the provider.",
    });
  }
}
