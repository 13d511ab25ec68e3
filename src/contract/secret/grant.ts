import { z } from "zod";

/** Whom a grant is for. A box's is for that box alone and not for a later one of the same name. */
export const GrantScope = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("box"), box: z.string(), incarnation: z.string() }),
  z.strictObject({ kind: z.literal("project"), projectDir: z.string() }),
  z.strictObject({ kind: z.literal("agent"), agent: z.string() }),
]);
export type GrantScope = z.infer<typeof GrantScope>;

/** A person's yes: this secret, for these boxes, used in exactly this way. */
export const SecretGrant = z.object({
  secret: z.string(),
  scope: GrantScope,
  /** Digest of the use; another use is another question. */
  use: z.string(),
  /** The sentence the person agreed to. */
  sentence: z.string(),
  grantedAtMs: z.int(),
  expiresAtMs: z.int().optional(),
});
export type SecretGrant = z.infer<typeof SecretGrant>;
