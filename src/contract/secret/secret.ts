import { z } from "zod";

/** Names of secrets: lower-case words, with `/` for families such as `login/claude`. */
const secretNamePattern = /^[a-z][a-z0-9-]*(?:\/[a-z0-9-]+)?$/;
export const SecretName = z
  .string()
  .max(64)
  .regex(secretNamePattern, "lower-case words, such as github or login/claude")
  .describe("Name of a secret in the vault.");

/** The kind of value; it decides how the value is read and what it can be used for. */
export const SecretKind = z.enum(["text", "ssh-key", "aws", "oauth"]);
export type SecretKind = z.infer<typeof SecretKind>;

/** Where the value is: in the vault itself, or somewhere else that is asked on use. Never the value. */
export const SecretSource = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("stored") }),
  z.strictObject({ kind: z.literal("env"), variable: z.string().min(1).max(256) }),
  z.strictObject({ kind: z.literal("file"), path: z.string().min(1).max(4096) }),
  z.strictObject({ kind: z.literal("command"), argv: z.array(z.string().max(4096)).min(1).max(64) }),
]);
export type SecretSource = z.infer<typeof SecretSource>;

export const SecretVersion = z.object({
  version: z.int().min(1),
  createdAtMs: z.int(),
  /** From when on this version is gone; absent for the one in use. */
  revokedAtMs: z.int().optional(),
});
export type SecretVersion = z.infer<typeof SecretVersion>;

/** A secret without its value. */
export const SecretInfo = z.object({
  name: z.string(),
  kind: SecretKind,
  source: SecretSource,
  note: z.string().optional(),
  createdAtMs: z.int(),
  updatedAtMs: z.int(),
  versions: z.array(SecretVersion),
  /** How long a value from elsewhere is kept in memory. */
  cacheMs: z.int().min(0),
});
export type SecretInfo = z.infer<typeof SecretInfo>;

/** The protection of the master key. */
export const MasterKind = z.enum(["keyfile", "passphrase", "keyring"]);
export type MasterKind = z.infer<typeof MasterKind>;

export const VaultStatus = z.object({
  master: MasterKind,
  isLocked: z.boolean(),
  secrets: z.int(),
});
export type VaultStatus = z.infer<typeof VaultStatus>;

/** Bytes of one secret. */
export const maxSecretBytes = 64 * 1024;
