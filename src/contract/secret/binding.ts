import { z } from "zod";
import { HostPattern } from "../network/policy.ts";

/**
 * How a box uses one secret: what it asked for, compiled from `[secrets.*]`. The value is never part of it. Where
 * the secret goes is fixed here, so a grant can be given for exactly this and for nothing else.
 */
export const SecretDestination = z.strictObject({
  scheme: z.enum(["https", "http"]),
  host: HostPattern,
  /** For the name of an exception: its address, because the manifest that names the exception says which. */
  address: z.string().optional(),
  port: z.int().min(1).max(65_535),
  /** Empty: all. */
  methods: z.array(z.string()),
  /** Path patterns as in network rules. Empty: all. */
  paths: z.array(z.string()),
  /** How the value is put into a request here. */
  as: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("bearer") }),
    z.strictObject({ kind: z.literal("basic"), username: z.string() }),
    z.strictObject({ kind: z.literal("header"), name: z.string(), prefix: z.string() }),
    z.strictObject({ kind: z.literal("query"), name: z.string() }),
    z.strictObject({ kind: z.literal("aws") }),
  ]),
});
export type SecretDestination = z.infer<typeof SecretDestination>;

/** A server whose sessions a key may sign in to. */
export const SshDestination = z.strictObject({
  host: z.string(),
  port: z.int().min(1).max(65_535),
  user: z.string().optional(),
});
export type SshDestination = z.infer<typeof SshDestination>;

export const SecretUse = z.discriminatedUnion("kind", [
  /** The gate puts it into requests; the box holds a placeholder. */
  z.strictObject({ kind: z.literal("inject"), destinations: z.array(SecretDestination).min(1) }),
  /** The host signs for the box; the box holds nothing. */
  z.strictObject({
    kind: z.literal("ssh"),
    destinations: z.array(SshDestination).min(1),
    confirm: z.boolean(),
  }),
  /** SECURITY: the box holds the value itself. Asked for by name, and shown wherever the box is shown. */
  z.strictObject({ kind: z.literal("env"), variable: z.string() }),
  z.strictObject({ kind: z.literal("file"), path: z.string() }),
]);
export type SecretUse = z.infer<typeof SecretUse>;

export const SecretBinding = z.strictObject({
  /** The name under `[secrets]`. */
  name: z.string(),
  /** The vault's name of it. */
  secret: z.string(),
  use: SecretUse,
  /** Variables of the box that hold the placeholder (`inject` only). */
  env: z.array(z.string()),
  /** The prefix of a placeholder, where tools look at the form of a token. */
  prefix: z.string(),
  /** Who wrote it: what a person wrote into the user config or typed needs no further grant. */
  isOrdered: z.boolean(),
});
export type SecretBinding = z.infer<typeof SecretBinding>;

export const isHeld = ({ use }: Pick<SecretBinding, "use">): boolean =>
  use.kind === "env" || use.kind === "file";
