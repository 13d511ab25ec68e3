/**
 * The document in the vault's file. The owner of the file can read names and notes, but no values; the signature covers
 * all of it, so that a changed note, source or time is noticed as surely as a changed value.
 */
import { z } from "zod";
import { canonicalJson } from "../../base/digest.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import {
  MasterKind,
  SecretKind,
  SecretName,
  SecretSource,
  SecretVersion,
} from "../../contract/secret/secret.ts";
import type { MasterKey } from "./master-key.ts";
import { Derivation } from "./passphrase.ts";

const KeyId = z.string().regex(/^[0-9a-f]{16}$/);
const MasterFacts = z.strictObject({
  id: KeyId,
  /** Tells the right key from a wrong one. */
  check: z.string(),
  /** The key before: of no use any more, but there until the last file that needs it has gone. */
  replaces: z.strictObject({ kind: MasterKind, id: KeyId }).optional(),
});

/** Where the master key comes from. */
export const MasterHeader = z.discriminatedUnion("kind", [
  MasterFacts.extend({ kind: z.literal("keyfile") }),
  MasterFacts.extend({ kind: z.literal("keyring") }),
  MasterFacts.extend({ kind: z.literal("passphrase"), derivation: Derivation }),
]);
export type MasterHeader = z.infer<typeof MasterHeader>;

/** A value under a data key of its own, and that key under the master key. */
export const SealedVersion = SecretVersion.extend({ key: z.base64(), value: z.base64() }).strict();
export type SealedVersion = z.infer<typeof SealedVersion>;

/** Everything about a secret but its values. */
export const SecretFacts = z.strictObject({
  name: SecretName,
  kind: SecretKind,
  source: SecretSource,
  note: z.string().optional(),
  createdAtMs: z.int(),
  updatedAtMs: z.int(),
  cacheMs: z.int().min(0),
});
export type SecretFacts = z.infer<typeof SecretFacts>;

/** `versions` is oldest first, and empty for a value that is elsewhere. */
export const SecretEntry = SecretFacts.extend({ versions: z.array(SealedVersion) });
export type SecretEntry = z.infer<typeof SecretEntry>;

export const VaultDocument = z.strictObject({
  format: z.literal(1),
  /** Grows with every change. */
  generation: z.int().min(1),
  master: MasterHeader,
  secrets: z.array(SecretEntry),
  signature: z.string(),
});
export type VaultDocument = z.infer<typeof VaultDocument>;
type UnsignedDocument = Omit<VaultDocument, "signature">;

export const signDocument = (document: UnsignedDocument, key: MasterKey): VaultDocument => ({
  ...document,
  signature: key.sign(canonicalJson(document)),
});

export function checkSignature({ signature, ...document }: VaultDocument, key: MasterKey): void {
  if (!key.hasSigned(canonicalJson(document), signature)) throw corrupted("was changed by another program");
}

/** One line: the only newline is the last byte, so a file that ends with one was written to its end. */
export const formatDocument = (document: VaultDocument): Buffer =>
  Buffer.from(`${JSON.stringify(document)}\n`);

/** Undefined for a file that was not written to its end. */
export function parseDocument(bytes: Buffer): VaultDocument | undefined {
  const text = bytes.toString();
  if (!text.endsWith("\n")) return undefined;
  const value = parseJson(text);
  if (value === undefined) throw corrupted("is not JSON");
  const parsed = VaultDocument.safeParse(value);
  if (!parsed.success) throw corrupted("has parts that cannot be there");
  return parsed.data;
}

export const corrupted = (problem: string): AgentBoxError =>
  new AgentBoxError("vault.corrupted", `The vault's file ${problem}.`, {
    hint: "Nothing was changed. The file from before the last change is vault.json.previous in the same directory.",
  });
