/** One exchange of a refresh token for new tokens. Nothing is kept here. */
import { refreshTokenGrant } from "openid-client";
import { AgentBoxError } from "../../base/errors.ts";
import { parseJsonObject } from "../../base/json.ts";
import type { OAuthTokens } from "../../contract/secret/connection.ts";
import type { BoundedFetch } from "./bounded-fetch.ts";
import type { RequestFailure } from "./failure.ts";
import { providerOf } from "./provider.ts";

/** Carries the meaning of a failure to the code that decides; never shown. */
export class RefreshFailed extends AgentBoxError {
  readonly failure: RequestFailure;

  constructor(failure: RequestFailure) {
    super("secret.unavailable", failure.sentence);
    this.failure = failure;
  }
}

export const refreshStandard = (
  tokens: OAuthTokens,
  clientSecret: string | undefined,
  fetch: BoundedFetch,
): Promise<unknown> =>
  refreshTokenGrant(providerOf(tokens, clientSecret, withoutIdToken(fetch)), tokens.refreshToken!);

/**
 * The id token that may come along is not read. If the library found fault with it, the refresh token in the same
 * answer would be lost, and with it the connection.
 */
const withoutIdToken =
  (fetch: BoundedFetch): BoundedFetch =>
  async (url, request) => {
    const answer = await fetch(url, request);
    const text = await answer.text();
    const { id_token: _, ...fields } = parseJsonObject(text) ?? {};
    return new Response(Object.keys(fields).length === 0 ? text : JSON.stringify(fields), {
      status: answer.status,
      headers: answer.headers,
    });
  };
