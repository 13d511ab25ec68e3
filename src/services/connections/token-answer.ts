/** From a service's answer to what the vault keeps: checked, with the moment it ends. */
import { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { OAuthTokens } from "../../contract/secret/connection.ts";
import { jwtExpiryMs } from "./jwt-expiry.ts";

/** SECURITY: a token goes into a header; one with a line end would be a header of the provider's choosing. */
const Token = z
  .string()
  .max(16 * 1024)
  .regex(/^[\x21-\x7e]+$/);

/** Tolerant, as remote services add fields. */
const TokenAnswer = z.object({
  access_token: Token,
  token_type: z
    .string()
    .regex(/^bearer$/i)
    .optional(),
  refresh_token: Token.nullish(),
  expires_in: z.coerce.number().min(0).max(1e10).nullish(),
  scope: z.string().max(16_384).nullish(),
});
type TokenAnswer = z.infer<typeof TokenAnswer>;

export type Known = Omit<OAuthTokens, "accessToken" | "expiresAtMs">;

/** `sentAtMs` is before the request, so that what is kept ends rather too early than too late. */
export function tokensFrom(answer: unknown, known: Known, sentAtMs: number): OAuthTokens {
  const parsed = TokenAnswer.safeParse(answer);
  if (!parsed.success) {
    // Without the cause: it would hold the answer, and so tokens.
    throw new AgentBoxError("connection.failed", "The service's answer has no token that can be used.");
  }
  const { access_token, refresh_token, scope } = parsed.data;
  const expiresAtMs = endOf(parsed.data, sentAtMs);
  const { refreshToken: before, ...rest } = known;
  const refreshToken = refresh_token ?? before;
  return {
    ...rest,
    scopes: scope === undefined || scope === null ? known.scopes : words(scope),
    accessToken: access_token,
    ...omitUndefined({ refreshToken, expiresAtMs }),
  };
}

const endOf = ({ expires_in, access_token }: TokenAnswer, sentAtMs: number): number | undefined =>
  typeof expires_in === "number" ? Math.floor(sentAtMs + expires_in * 1_000) : jwtExpiryMs(access_token);

/** Spaces by the standard; GitHub writes commas. */
const words = (scope: string): string[] => scope.split(/[ ,]+/).filter((word) => word !== "");
