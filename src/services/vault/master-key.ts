/**
 * The master key in memory. It is never used itself: for each purpose a key is derived from it. Once forgotten it is
 * zeros, and a later use is told that the vault is locked.
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { AgentBoxError } from "../../base/errors.ts";
import { keyBytes } from "./envelope.ts";

export class MasterKey {
  /** Names the key, in the vault's file and wherever the key is kept. */
  readonly id: string;
  readonly #bytes: Buffer;
  #isForgotten = false;

  constructor(id: string, bytes: Buffer) {
    this.id = id;
    this.#bytes = bytes;
  }

  static random(): { key: MasterKey; bytes: Buffer } {
    const bytes = randomBytes(keyBytes);
    return { key: new MasterKey(newKeyId(), bytes), bytes };
  }

  /** Tells whether a key is this one, and nothing about the key. */
  get check(): string {
    return this.#derive("check").subarray(0, 16).toString("base64");
  }

  get wrapping(): Buffer {
    return this.#derive("wrapping");
  }

  sign(text: string): string {
    return createHmac("sha256", this.#derive("signature")).update(text).digest("base64");
  }

  hasCheck(check: string): boolean {
    return isSame(this.check, check);
  }

  hasSigned(text: string, signature: string): boolean {
    return isSame(this.sign(text), signature);
  }

  forget(): void {
    this.#isForgotten = true;
    this.#bytes.fill(0);
  }

  #derive(purpose: string): Buffer {
    // SECURITY: data that is sealed with a key of zeros would be open to everyone.
    if (this.#isForgotten) throw vaultLocked();
    return Buffer.from(hkdfSync("sha256", this.#bytes, "", `agentbox vault ${purpose}`, keyBytes));
  }
}

export const newKeyId = (): string => randomBytes(8).toString("hex");

export const vaultLocked = (): AgentBoxError =>
  new AgentBoxError("vault.locked", "The vault is locked.", { hint: "Run: agentbox vault unlock" });

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
