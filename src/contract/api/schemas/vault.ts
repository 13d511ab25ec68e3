/** Secrets: the vault, grants, sign-ins, and the log that proves what was done. No answer has a value. */
import { z } from "zod";
import { EgressRecord } from "../../network/egress.ts";
import { ConnectionPreset } from "../../secret/connection.ts";
import { SecretGrant } from "../../secret/grant.ts";
import {
  MasterKind,
  SecretInfo,
  SecretKind,
  SecretName,
  SecretSource,
  maxSecretBytes,
} from "../../secret/secret.ts";

/** Bytes of any kind, so base64. */
const Value = z.base64().max(Math.ceil(maxSecretBytes / 3) * 4 + 4);
/** As much as a request can carry, so that every export can be imported again. */
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

/** The last event and its digest, as noted elsewhere: only so does a log show that its end was cut off. */
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

export const UnlockVaultBody = z.strictObject({ passphrase: Passphrase });

export const RekeyVaultBody = z.strictObject({ to: MasterKind, passphrase: Passphrase.optional() });

export const ExportVaultBody = z.strictObject({ passphrase: Passphrase });

export const ExportVaultAnswer = z.object({ sealed: z.string() });

export const ImportVaultBody = z.strictObject({
  sealed: z.string().max(maxSealedText),
  passphrase: Passphrase,
});

export const ImportVaultAnswer = z.object({ added: z.array(z.string()), skipped: z.array(z.string()) });

export const ListSecretsAnswer = z.object({ secrets: z.array(SecretDetails) });

export const AddSecretBody = z.strictObject({
  name: SecretName,
  kind: SecretKind.default("text"),
  source: SecretSource.default({ kind: "stored" }),
  value: Value.optional(),
  note: z.string().max(500).optional(),
  cacheMs: z.int().min(0).max(86_400_000).optional(),
});

export const AddSecretAnswer = z.object({ secret: SecretInfo });

export const GetSecretQuery = z.strictObject({ name: SecretName });

export const RemoveSecretQuery = z.strictObject({ name: SecretName });

export const RotateSecretBody = z.strictObject({
  name: SecretName,
  value: Value,
  graceMs: z
    .int()
    .min(0)
    .max(30 * 86_400_000)
    .default(0),
});

export const RotateSecretAnswer = z.object({ secret: SecretInfo });

export const GrantSecretBody = GrantBody.extend({ name: SecretName });

export const GrantSecretAnswer = z.object({ grants: z.array(SecretGrant) });

export const RevokeSecretBody = z.strictObject({
  name: SecretName,
  box: z.string().max(64).optional(),
  projectDir: z.string().max(4096).optional(),
  agent: z.string().max(64).optional(),
});

export const RevokeSecretAnswer = z.object({
  revoked: z.int(),
  holders: z.array(z.string()).describe("Boxes that hold the value itself, and still do."),
});

export const SecretAuditQuery = z.strictObject({
  name: SecretName.optional(),
  box: z.string().max(64).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

export const SecretAuditAnswer = z.object({ records: z.array(EgressRecord) });

export const TestSecretBody = z.strictObject({
  name: z.string().max(64),
  path: z.string().max(4096).optional(),
});

export const TestSecretAnswer = z.object({ tests: z.array(SecretTest) });

export const ListConnectionPresetsAnswer = z.object({ presets: z.array(ConnectionPreset) });

export const KeepLoginBody = z.strictObject({
  agent: z.string().max(64),
  form: z
    .enum(["file", "token"])
    .describe("file: what the agent's program keeps of its login. token: one that was made for this."),
  value: Value,
});

export const KeepLoginAnswer = z.object({ secret: SecretInfo });

export const VerifyAuditQuery = z.strictObject({ head: AuditMark.optional() });
