/**
 * Refreshing as Anthropic and OpenAI do it for their own programs: the standard's fields, but as a JSON document.
 * Fails with a `RefreshFailed`, which says whether asking again can help.
 */
import { parseJsonObject } from "../../base/json.ts";
import type { OAuthTokens } from "../../contract/secret/connection.ts";
import type { BoundedFetch } from "./bounded-fetch.ts";
import { isBusy, refusal, unreachable } from "./failure.ts";
import { RefreshFailed } from "./refresh.ts";

export async function refreshWithJson(tokens: OAuthTokens, fetch: BoundedFetch): Promise<unknown> {
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
