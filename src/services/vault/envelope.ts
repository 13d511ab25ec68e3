/**
 * AES-256-GCM with a fresh nonce for every sealing. Opening returns exactly the sealed bytes, with the same key, for
 * the same purpose; otherwise it is an error that says nothing about the content.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { canonicalJson } from "../../base/digest.ts";

export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const cipher = "aes-256-gcm";

/** The purpose and the owner of the sealed bytes; bytes that are moved elsewhere do not open there. */
export type Purpose = Readonly<Record<string, string | number>>;

/** Nonce, what was encrypted, tag. */
export function seal(key: Buffer, plain: Buffer, purpose: Purpose): Buffer {
  const nonce = randomBytes(nonceBytes);
  const encrypt = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  encrypt.setAAD(Buffer.from(canonicalJson(purpose)));
  return Buffer.concat([nonce, encrypt.update(plain), encrypt.final(), encrypt.getAuthTag()]);
}

/** Undefined when it is not what was sealed. */
export function unseal(key: Buffer, sealed: Buffer, purpose: Purpose): Buffer | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  const end = sealed.length - tagBytes;
  // SECURITY: the length of the tag is fixed, or an attacker would have to forge only four bytes of it.
  const decrypt = createDecipheriv(cipher, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decrypt.setAAD(Buffer.from(canonicalJson(purpose)));
  decrypt.setAuthTag(sealed.subarray(end));
  const plain = decrypt.update(sealed.subarray(nonceBytes, end));
  try {
    return Buffer.concat([plain, decrypt.final()]);
  } catch {
    return undefined;
  } finally {
    plain.fill(0);
  }
}
