/**
 * Secrets on their way to another vault: sealed to a passphrase, with a header that says how. Values exist in plain only
 * between opening the one and sealing the other.
 */
import { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import { SecretVersion } from "../../contract/secret/secret.ts";
import { SecretFacts } from "./document.ts";
import { type Purpose, seal, unseal } from "./envelope.ts";
import { MasterKey } from "./master-key.ts";
import { Derivation, deriveKey, newDerivation, wrongPassphrase } from "./passphrase.ts";

const kind = "agentbox-vault-export";
const keyId = "export";
const maxExportBytes = 96 << 20;

const ExportFile = z.strictObject({
  kind: z.literal(kind),
  format: z.literal(1),
  derivation: Derivation,
  check: z.string(),
  sealed: z.base64(),
});

const PlainSecret = SecretFacts.extend({
  versions: z.array(SecretVersion.extend({ value: z.base64() }).strict()),
});
export type PlainSecret = z.infer<typeof PlainSecret>;

const purpose: Purpose = { what: kind, format: 1 };

export async function sealExport(
  secrets: readonly PlainSecret[],
  passphrase: string,
  scryptCost: number,
): Promise<Buffer> {
  const derivation = newDerivation(scryptCost);
  const key = new MasterKey(keyId, await deriveKey(passphrase, derivation));
  const plain = Buffer.from(JSON.stringify(secrets));
  const sealed = seal(key.wrapping, plain, purpose).toString("base64");
  plain.fill(0);
  const file = { kind, format: 1, derivation, check: key.check, sealed };
  key.forget();
  return Buffer.from(`${JSON.stringify(file)}\n`);
}

export async function openExport(bytes: Buffer, passphrase: string): Promise<readonly PlainSecret[]> {
  const file = parse(bytes, ExportFile);
  const key = new MasterKey(keyId, await deriveKey(passphrase, file.derivation));
  if (!key.hasCheck(file.check)) throw wrongPassphrase("the file");
  const plain = unseal(key.wrapping, Buffer.from(file.sealed, "base64"), purpose);
  key.forget();
  if (plain === undefined) throw notExported();
  try {
    return parse(plain, z.array(PlainSecret));
  } finally {
    plain.fill(0);
  }
}

function parse<T>(bytes: Buffer, schema: z.ZodType<T>): T {
  if (bytes.length > maxExportBytes) throw notExported();
  try {
    return schema.parse(JSON.parse(bytes.toString()));
  } catch {
    // SECURITY: what the parser says has pieces of the text in it, and they may be in plain.
    throw notExported();
  }
}

const notExported = (): AgentBoxError =>
  new AgentBoxError("vault.corrupted", "The file is not what a vault has exported.", {
    hint: "Export it again; nothing was taken from this one.",
  });
