import { z } from "zod";

/** The facts that an OAuth sign-in needs; from a preset, from flags, or both. Never a value of a token. */
export const ConnectionSpec = z.strictObject({
  /** The vault's name of what comes out of it. */
  secret: z.string(),
  preset: z.string().max(64).optional(),
  /** Where to discover the endpoints, or the endpoints themselves. */
  issuer: z.url().max(2048).optional(),
  authorizationEndpoint: z.url().max(2048).optional(),
  tokenEndpoint: z.url().max(2048).optional(),
  deviceEndpoint: z.url().max(2048).optional(),
  clientId: z.string().max(512).optional(),
  /** Name of a secret in the vault that holds the client's own secret, where a provider insists. */
  clientSecret: z.string().max(64).optional(),
  scopes: z.array(z.string().max(256)).max(64).optional(),
  /** More parameters of the authorization request, such as `prompt` or `audience`. */
  parameters: z.record(z.string().max(64), z.string().max(1024)).optional(),
  flow: z.enum(["code", "device"]).default("code"),
  /** Where the browser comes back to on this host; any free port unless a provider insists on a registered one. */
  redirectPort: z.int().min(1_024).max(65_535).optional(),
});
export type ConnectionSpec = z.infer<typeof ConnectionSpec>;

/** A sign-in under way, or how it ended. */
export const ConnectionState = z.object({
  id: z.string(),
  secret: z.string(),
  state: z.enum(["waiting", "connected", "failed", "expired"]),
  /** Where a person goes to agree. */
  url: z.string().optional(),
  /** The code that they type there (device flow). */
  userCode: z.string().optional(),
  expiresAtMs: z.int(),
  message: z.string().optional(),
});
export type ConnectionState = z.infer<typeof ConnectionState>;

/** A service by name: its endpoints, the least it needs, and what an agent then can and cannot do. */
export const ConnectionPreset = z.object({
  name: z.string(),
  title: z.string(),
  /** The name that the service gives itself in its answers. */
  issuer: z.string().optional(),
  authorizationEndpoint: z.string(),
  tokenEndpoint: z.string(),
  deviceEndpoint: z.string().optional(),
  scopes: z.array(z.string()),
  parameters: z.record(z.string(), z.string()),
  /** Where a service takes the browser back only to an address that was registered to the letter. */
  redirectPort: z.int().optional(),
  /** Where and how a person registers the client whose id is needed. */
  registration: z.string(),
  /** Where the token is used. */
  hosts: z.array(z.string()),
  can: z.array(z.string()),
  cannot: z.array(z.string()),
});
export type ConnectionPreset = z.infer<typeof ConnectionPreset>;

/** The vault's record of a connection; part of the secret, so it is encrypted like any value. */
export const OAuthTokens = z.strictObject({
  tokenEndpoint: z.string(),
  issuer: z.string().optional(),
  clientId: z.string(),
  /** Name of the secret in the vault that holds the client's own secret, and how that is sent. */
  clientSecret: z.string().optional(),
  clientAuth: z.enum(["post", "basic"]).default("post"),
  scopes: z.array(z.string()),
  accessToken: z.string(),
  /** Absent: the service gives no new one, and a person signs in again. */
  refreshToken: z.string().optional(),
  expiresAtMs: z.int().optional(),
  /** How the token is refreshed where a vendor departs from the standard. */
  dialect: z.enum(["standard", "json"]).default("standard"),
  /** Facts that must be sent along, such as an account's id; not secret, but not for boxes. */
  extra: z.record(z.string(), z.string()).default({}),
});
export type OAuthTokens = z.infer<typeof OAuthTokens>;
