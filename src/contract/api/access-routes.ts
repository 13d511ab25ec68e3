/** Routes about who may come in: one-time links, tokens, shares, sign-ins. A credential is in exactly one answer, once. */
import { z } from "zod";
import { Me, ShareRole } from "../access/principal.ts";
import { Scope } from "../access/scope.ts";
import { type Route, empty, none } from "./route.ts";

const Id = z.string().regex(/^[0-9a-f]{8,64}$/);
const byId = z.strictObject({ id: Id });
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

export const accessRoutes = {
  openLink: {
    method: "POST",
    path: "/v1/web/link",
    summary: "A one-time link to the dashboard for the owner; opens its port if need be.",
    body: empty,
    response: z.object({ url: z.string(), expiresAtMs: z.int() }),
  },
  getMe: { method: "GET", path: "/v1/me", summary: "Who is asking, and what they may do.", response: Me },
  signOut: {
    method: "POST",
    path: "/v1/me/sign-out",
    summary: "End the session that asks; everything it has open ends, too.",
    body: empty,
    response: none,
  },
  listTokens: {
    method: "GET",
    path: "/v1/tokens",
    summary: "Access tokens, without their values.",
    response: z.object({ tokens: z.array(TokenInfo) }),
  },
  createToken: {
    method: "POST",
    path: "/v1/tokens",
    summary: "Make an access token. This answer is the only one with its value.",
    body: z.strictObject({
      name: z.string().min(1).max(64),
      scopes: z.array(Scope).min(1),
      ttlMs: z
        .int()
        .min(60_000)
        .max(3650 * dayMs)
        .optional(),
    }),
    response: z.object({ token: TokenInfo, value: z.string() }),
  },
  removeToken: {
    method: "DELETE",
    path: "/v1/tokens",
    summary: "End an access token and everything it has open.",
    query: byId,
    response: none,
  },
  listShares: {
    method: "GET",
    path: "/v1/boxes/{box}/shares",
    summary: "With whom a box is shared.",
    response: z.object({ shares: z.array(ShareInfo) }),
  },
  createShare: {
    method: "POST",
    path: "/v1/boxes/{box}/shares",
    summary: "Share a box: with a person of the team, or with whoever opens a one-time link.",
    body: z.strictObject({
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
    }),
    response: z.object({ share: ShareInfo, url: z.string().optional() }),
  },
  removeShare: {
    method: "DELETE",
    path: "/v1/boxes/{box}/shares",
    summary: "End a share and everything that is open through it.",
    query: byId,
    response: none,
  },
  listSignIns: {
    method: "GET",
    path: "/v1/sign-ins",
    summary: "Sessions of browsers.",
    response: z.object({ signIns: z.array(SignInInfo) }),
  },
  endSignIn: {
    method: "DELETE",
    path: "/v1/sign-ins",
    summary: "End a session and everything it has open.",
    query: byId,
    response: none,
  },
} as const satisfies Record<string, Route>;
