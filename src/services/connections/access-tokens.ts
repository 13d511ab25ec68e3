/**
 * Access tokens that are valid now. One refresh at a time for each secret; new tokens are kept before they are used;
 * a service that fails is left alone for a while; a token that has ended is never handed out.
 */
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import { agentOfLogin } from "../../contract/secret/agent-login.ts";
import type { OAuthTokens } from "../../contract/secret/connection.ts";
import type { ConnectionsContext } from "./connections.ts";
import { type RequestFailure, failureOf, isBusy, refusal, unreachable } from "./failure.ts";
import { publicClientSecret } from "./public-clients.ts";
import { RefreshFailed, refreshStandard } from "./refresh.ts";
import { tokensFrom } from "./token-answer.ts";
import { parseJsonObject } from "../../base/json.ts";
import type { BoundedFetch } from "./bounded-fetch.ts";

/**
 * Refreshing as Anthropic and OpenAI do it for their own programs: the standard's fields, but as a JSON document.
 * Fails with a `RefreshFailed`, which says whether asking again can help.
 */
async function refreshWithJson(tokens: OAuthTokens, fetch: BoundedFetch): Promise<unknown> {
  const answer = await fetch(tokens.tokenEndpoint, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      grant_type: "refresh_token",
      refresh_token: tokens.refreshToken,
      client_id: tokens.clientId,
      ...(tokens.scopes.length === 0 ? {} : { scope: tokens.scopes.join(" ") }),
    }),
  });
  const fields = parseJsonObject(await answer.text());
  if (answer.status === 200 && fields !== undefined) return fields;
  throw new RefreshFailed(
    [400, 401, 403].includes(answer.status)
      ? refusal(codeIn(fields?.["error"]))
      : unreachable(
          isBusy(answer.status)
            ? "The service cannot answer now."
            : "The service's answer could not be understood.",
        ),
  );
}

/** A code, or a document that has one as `code` or `type`. */
function codeIn(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return error;
  return "code" in error ? error.code : "type" in error ? error.type : undefined;
}

export interface AccessToken {
  readonly value: string;
  readonly extra: Readonly<Record<string, string>>;
}

/** A token with less left than this is renewed, so that it does not end on its way. */
const marginMs = 60_000;
const leaveAloneMs = { unreachable: 5_000, refused: 60_000 } as const;

interface Failed {
  /** The refresh token that was tried: another one is another question. */
  readonly refreshToken: string | undefined;
  readonly failure: RequestFailure;
  readonly untilMs: number;
}

interface Unkept {
  readonly used: string | undefined;
  readonly tokens: OAuthTokens;
}

export class AccessTokens {
  readonly #context: ConnectionsContext;
  readonly #flights = new Map<string, Promise<AccessToken>>();
  readonly #failed = new Map<string, Failed>();
  readonly #unkept = new Map<string, Unkept>();

  constructor(context: ConnectionsContext) {
    this.#context = context;
  }

  get(secret: string): Promise<AccessToken> {
    let flight = this.#flights.get(secret);
    if (flight === undefined) {
      flight = this.#find(secret).finally(() => this.#flights.delete(secret));
      this.#flights.set(secret, flight);
    }
    return flight;
  }

  async #find(secret: string): Promise<AccessToken> {
    // Read each time: the person may have signed in again, or another process may have refreshed.
    const tokens = await this.#read(secret);
    if (this.#leftMs(tokens) > marginMs) return handed(tokens);
    const failure = tokens.refreshToken === undefined ? noRefresh : this.#recentFailure(secret, tokens);
    return failure === undefined ? this.#renew(secret, tokens) : this.#without(secret, tokens, failure);
  }

  async #renew(secret: string, tokens: OAuthTokens): Promise<AccessToken> {
    const clientSecret = await this.#clientSecret(tokens);
    let renewed: OAuthTokens;
    try {
      renewed = await this.#refresh(tokens, clientSecret);
    } catch (error) {
      const failure = error instanceof RefreshFailed ? error.failure : failureOf(error);
      return this.#afterFailure(secret, tokens, failure);
    }
    this.#failed.delete(secret);
    // The service may have forgotten the old refresh token already, so the new one must not be lost.
    this.#unkept.set(secret, { used: tokens.refreshToken, tokens: renewed });
    const kept = await this.#read(secret);
    this.#context.logger.info({ secret }, "token refreshed");
    return handed(kept);
  }

  async #refresh(tokens: OAuthTokens, clientSecret: string | undefined): Promise<OAuthTokens> {
    const { clock, fetch } = this.#context;
    const sentAtMs = clock.nowMs();
    const answer =
      tokens.dialect === "json"
        ? await refreshWithJson(tokens, fetch)
        : await refreshStandard(tokens, clientSecret, fetch);
    return tokensFrom(answer, tokens, sentAtMs);
  }

  async #clientSecret({ clientId, clientSecret }: OAuthTokens): Promise<string | undefined> {
    return clientSecret === undefined
      ? publicClientSecret(clientId)
      : this.#context.keeper.clientSecret(clientSecret);
  }

  async #afterFailure(secret: string, tokens: OAuthTokens, failure: RequestFailure): Promise<AccessToken> {
    const { keeper, clock, logger } = this.#context;
    // Another process may have been first, and have used the refresh token up.
    const current = await keeper.read(secret);
    if (current.refreshToken !== tokens.refreshToken && this.#leftMs(current) > 0) return handed(current);
    logger.warn({ secret, kind: failure.kind, code: failure.code }, "token not refreshed");
    this.#failed.set(secret, {
      refreshToken: tokens.refreshToken,
      failure,
      untilMs: clock.monotonicMs() + leaveAloneMs[failure.kind],
    });
    return this.#without(secret, tokens, failure);
  }

  /** The old token for its last moments, if the service is only away; otherwise none. */
  #without(secret: string, tokens: OAuthTokens, failure: RequestFailure): AccessToken {
    if (failure.kind === "unreachable" && this.#leftMs(tokens) > 0) return handed(tokens);
    throw new AgentBoxError(
      "secret.unavailable",
      `The token of "${secret}" has ended and cannot be renewed. ${failure.sentence}`,
      { hint: hintFor(secret, failure) },
    );
  }

  /**
   * The tokens of the vault, or newer ones that it has not taken yet. SECURITY: not if the person has removed the
   * secret or signed in again meanwhile, because removed tokens would come back.
   */
  async #read(secret: string): Promise<OAuthTokens> {
    const { keeper } = this.#context;
    const kept = await keeper.read(secret).catch((error: unknown) => {
      if (isAgentBoxError(error, "secret.not_found")) this.#unkept.delete(secret);
      throw error;
    });
    const unkept = this.#unkept.get(secret);
    if (unkept === undefined) return kept;
    if (kept.refreshToken === unkept.used) await keeper.write(secret, unkept.tokens);
    this.#unkept.delete(secret);
    return kept.refreshToken === unkept.used ? unkept.tokens : kept;
  }

  #recentFailure(secret: string, { refreshToken }: OAuthTokens): RequestFailure | undefined {
    const failed = this.#failed.get(secret);
    const isRecent = failed !== undefined && this.#context.clock.monotonicMs() < failed.untilMs;
    return isRecent && failed.refreshToken === refreshToken ? failed.failure : undefined;
  }

  #leftMs({ expiresAtMs }: OAuthTokens): number {
    return expiresAtMs === undefined ? Infinity : expiresAtMs - this.#context.clock.nowMs();
  }
}

/** Like a service that is away for good: the token is used as long as it lasts. */
const noRefresh: RequestFailure = {
  kind: "unreachable",
  code: undefined,
  sentence: "The service gave no way to renew it.",
};

const handed = ({ accessToken, extra }: OAuthTokens): AccessToken => ({ value: accessToken, extra });

function hintFor(secret: string, failure: RequestFailure): string {
  if (failure !== noRefresh && failure.kind === "unreachable") return "Try again when the service answers.";
  const agent = agentOfLogin(secret);
  return agent === undefined
    ? `Connect again: agentbox connect ${secret}`
    : `Log in again with ${agent} on this host, then: agentbox login ${agent}`;
}
