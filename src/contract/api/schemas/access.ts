/** Who may come in: one-time links, tokens, shares, sign-ins. A credential is in exactly one answer, once. */
import { z } from "zod";
import { ShareRole } from "../../access/principal.ts";
import { Scope } from "../../access/scope.ts";

const Id = z.string().regex(/^[0-9a-f]{8,64}$/);
export const ById = z.strictObject({ id: Id });
const dayMs = 86_400_000;

export const TokenInfo = z.object({
  id: Id,
  name: z.string(),
  scopes: z.array(Scope),
  holder: z.string().describe("For whom it acts."),
  createdAtMs: z.int(),
  usedAtMs: z.int().optional(),
  expiresAtMs: z.int().optional(),
});
export type TokenInfo = z.infer<typeof TokenInfo>;

export const ShareInfo = z.object({
  id: Id,
  box: z.string(),
  may: ShareRole,
  with: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("link"), isClaimed: z.boolean() }),
    z.object({ kind: z.literal("person"), person: z.string(), name: z.string() }),
  ]),
  createdAtMs: z.int(),
  expiresAtMs: z.int().optional(),
});
export type ShareInfo = z.infer<typeof ShareInfo>;

export const SignInInfo = z.object({
  id: Id,
  kind: z.enum(["owner", "person", "guest"]),
  name: z.string(),
  isThis: z.boolean().describe("Whether it is the one that asks."),
  agent: z.string().optional().describe("What the browser calls itself."),
  createdAtMs: z.int(),
  usedAtMs: z.int(),
  expiresAtMs: z.int(),
});
export type SignInInfo = z.infer<typeof SignInInfo>;

export const OpenLinkAnswer = z.object({ url: z.string(), expiresAtMs: z.int() });

export const ListTokensAnswer = z.object({ tokens: z.array(TokenInfo) });

export const CreateTokenBody = z.strictObject({
  name: z.string().min(1).max(64),
  scopes: z.array(Scope).min(1),
  ttlMs: z
    .int()
    .min(60_000)
    .max(3650 * dayMs)
    .optional(),
});

export const CreateTokenAnswer = z.object({ token: TokenInfo, value: z.string() });

export const ListSharesAnswer = z.object({ shares: z.array(ShareInfo) });

export const CreateShareBody = z.strictObject({
  may: ShareRole,
  with: z.union([
    z.strictObject({ person: z.string().min(1).max(256).describe("Id or e-mail address.") }),
    z.strictObject({ link: z.literal(true) }),
  ]),
  ttlMs: z
    .int()
    .min(60_000)
    .max(365 * dayMs)
    .optional(),
});

export const CreateShareAnswer = z.object({ share: ShareInfo, url: z.string().optional() });

export const ListSignInsAnswer = z.object({ signIns: z.array(SignInInfo) });
