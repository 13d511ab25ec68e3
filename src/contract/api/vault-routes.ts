/** Routes about secrets: the vault, grants, sign-ins, and the log that proves what was done. No answer has a value. */
import { z } from "zod";
import { EgressRecord } from "../network/egress.ts";
import { ConnectionPreset, ConnectionSpec, ConnectionState } from "../secret/connection.ts";
import { SecretGrant } from "../secret/grant.ts";
import {
  MasterKind,
  SecretInfo,
  SecretKind,
  SecretName,
  SecretSource,
  VaultStatus,
  maxSecretBytes,
} from "../secret/secret.ts";
import { type Route, empty, none } from "./route.ts";

/** Bytes of any kind, so base64. */
const Value = z.base64().max(Math.ceil(maxSecretBytes / 3) * 4 + 4);
/** What a request can carry, so that whatever was exported can be imported again. */
export const maxSealedText = 1_500_000;
const Passphrase = z.string().min(1).max(1024);

export const SecretDetails = z.object({
  secret: SecretInfo,
  grants: z.array(SecretGrant),
});
export type SecretDetails = z.infer<typeof SecretDetails>;

/** Whom and what a grant is for: the use is read from the box or from the project's manifest. */
const GrantBody = z.strictObject({
  scope: z.enum(["box", "project", "agent"]),
  box: z.string().max(64).optional().describe("The box whose request is granted."),
  projectDir: z.string().max(4096).optional(),
  manifest: z
    .object({ file: z.string().max(4096), text: z.string().max(1024 * 1024) })
    .optional()
    .describe("The project's manifest, where no box is named."),
  agent: z.string().max(64).optional(),
  ttlMs: z.int().min(1_000).optional(),
  isPreview: z.boolean().optional().describe("Say what would be granted, and grant nothing."),
});

export const SecretTest = z.object({
  url: z.string(),
  method: z.string(),
  /** The server's answer; absent when the gate refused or nothing was reached. */
  status: z.int().optional(),
  isInjected: z.boolean(),
  /** The gate's reason where it was refused. */
  reason: z.string().optional(),
  sentence: z.string(),
});
export type SecretTest = z.infer<typeof SecretTest>;

/** The last event and its digest, as somebody noted them: only so does a log show that its end was cut off. */
const AuditMark = z
  .string()
  .regex(
    /^(?:0:|[1-9][0-9]{0,14}:[0-9a-f]{64})$/,
    "the number of an event and its digest, as agentbox audit head prints them",
  )
  .describe("What agentbox audit head printed earlier.");

export const AuditReport = z.object({
  isWhole: z.boolean(),
  /** How many are what was written; the number of the last of them. */
  events: z.int(),
  /** Digest of that event and so of everything before it. */
  head: z.string(),
  /** The first event that is not what was written, or is missing. */
  brokenAt: z.int().optional(),
});
export type AuditReport = z.infer<typeof AuditReport>;

export const vaultRoutes = {
  getVault: {
    method: "GET",
    path: "/v1/vault",
    summary: "What protects the vault, and whether it is open.",
    response: VaultStatus,
  },
  unlockVault: {
    method: "POST",
    path: "/v1/vault/unlock",
    summary: "Open the vault with its passphrase.",
    body: z.strictObject({ passphrase: Passphrase }),
    response: VaultStatus,
  },
  lockVault: {
    method: "POST",
    path: "/v1/vault/lock",
    summary: "Forget the master key.",
    body: empty,
    response: VaultStatus,
  },
  rekeyVault: {
    method: "POST",
    path: "/v1/vault/rekey",
    summary: "A new master key, of this or another kind.",
    body: z.strictObject({ to: MasterKind, passphrase: Passphrase.optional() }),
    response: VaultStatus,
  },
  exportVault: {
    method: "POST",
    path: "/v1/vault/export",
    summary: "Everything, sealed to a passphrase.",
    body: z.strictObject({ passphrase: Passphrase }),
    response: z.object({ sealed: z.string() }),
  },
  importVault: {
    method: "POST",
    path: "/v1/vault/import",
    summary: "Take secrets from a sealed file.",
    body: z.strictObject({ sealed: z.string().max(maxSealedText), passphrase: Passphrase }),
    response: z.object({ added: z.array(z.string()), skipped: z.array(z.string()) }),
  },
  listSecrets: {
    method: "GET",
    path: "/v1/secrets",
    summary: "Every secret, without its value.",
    response: z.object({ secrets: z.array(SecretDetails) }),
  },
  addSecret: {
    method: "POST",
    path: "/v1/secrets",
    summary: "Keep a secret.",
    body: z.strictObject({
      name: SecretName,
      kind: SecretKind.default("text"),
      source: SecretSource.default({ kind: "stored" }),
      value: Value.optional(),
      note: z.string().max(500).optional(),
      cacheMs: z.int().min(0).max(86_400_000).optional(),
    }),
    response: z.object({ secret: SecretInfo }),
  },
  getSecret: {
    method: "GET",
    path: "/v1/secret",
    summary: "One secret, without its value.",
    query: z.strictObject({ name: SecretName }),
    response: SecretDetails,
  },
  removeSecret: {
    method: "DELETE",
    path: "/v1/secret",
    summary: "Forget a secret and its grants.",
    query: z.strictObject({ name: SecretName }),
    response: none,
  },
  rotateSecret: {
    method: "POST",
    path: "/v1/secret/rotate",
    summary: "A new value; the one before is revoked after a grace.",
    body: z.strictObject({
      name: SecretName,
      value: Value,
      graceMs: z
        .int()
        .min(0)
        .max(30 * 86_400_000)
        .default(0),
    }),
    response: z.object({ secret: SecretInfo }),
  },
  grantSecret: {
    method: "POST",
    path: "/v1/secret/grant",
    summary: "Let a box, a project or an agent use a secret in exactly the way that is asked for.",
    body: GrantBody.extend({ name: SecretName }),
    response: z.object({ grants: z.array(SecretGrant) }),
  },
  revokeSecret: {
    method: "POST",
    path: "/v1/secret/revoke",
    summary: "Take grants back, from the next request on.",
    body: z.strictObject({
      name: SecretName,
      box: z.string().max(64).optional(),
      projectDir: z.string().max(4096).optional(),
      agent: z.string().max(64).optional(),
    }),
    response: z.object({
      revoked: z.int(),
      holders: z.array(z.string()).describe("Boxes that hold the value itself, and still do."),
    }),
  },
  secretAudit: {
    method: "GET",
    path: "/v1/secret/audit",
    summary: "Where a secret went, and where it was refused.",
    query: z.strictObject({
      name: SecretName.optional(),
      box: z.string().max(64).optional(),
      limit: z.coerce.number().int().min(1).max(1000).default(100),
    }),
    response: z.object({ records: z.array(EgressRecord) }),
  },
  testSecret: {
    method: "POST",
    path: "/v1/boxes/{box}/secret-test",
    summary: "Make a request as the box would, and say what happened to the secret.",
    body: z.strictObject({ name: z.string().max(64), path: z.string().max(4096).optional() }),
    response: z.object({ tests: z.array(SecretTest) }),
  },
  listConnectionPresets: {
    method: "GET",
    path: "/v1/connections/presets",
    summary: "Services whose sign-in is known, and what an agent then can do.",
    response: z.object({ presets: z.array(ConnectionPreset) }),
  },
  startConnection: {
    method: "POST",
    path: "/v1/connections",
    summary: "Begin an OAuth sign-in.",
    body: ConnectionSpec,
    response: ConnectionState,
  },
  getConnection: {
    method: "GET",
    path: "/v1/connections/{connection}",
    summary: "How far a sign-in is.",
    response: ConnectionState,
  },
  keepLogin: {
    method: "POST",
    path: "/v1/logins",
    summary: "Take the subscription of an agent into the vault.",
    body: z.strictObject({
      agent: z.string().max(64),
      form: z
        .enum(["file", "token"])
        .describe("file: what the agent's program keeps of its login. token: one that was made for this."),
      value: Value,
    }),
    response: z.object({ secret: SecretInfo }),
  },
  verifyAudit: {
    method: "GET",
    path: "/v1/audit/verify",
    summary: "Whether the event log is what was written.",
    query: z.strictObject({ head: AuditMark.optional() }),
    response: AuditReport,
  },
} as const satisfies Record<string, Route>;
