/** A key from a passphrase, by scrypt: guessing one costs 128 MiB and half a second. */
import { randomBytes, scrypt } from "node:crypto";
import { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import { keyBytes } from "./envelope.ts";

/** The cost that is written; what is read may have another. */
export const defaultScryptCost = 2 ** 17;
const blockSize = 8;

/** How a key was derived. SECURITY: bounded, because a file decides how much memory is asked for. */
export const Derivation = z.strictObject({
  salt: z.base64().length(24),
  cost: z
    .int()
    .min(2 ** 10)
    .max(2 ** 18)
    .refine((cost) => Number.isInteger(Math.log2(cost))),
  blockSize: z.literal(blockSize),
  parallelism: z.literal(1),
});
export type Derivation = z.infer<typeof Derivation>;

export const newDerivation = (cost: number): Derivation => ({
  salt: randomBytes(16).toString("base64"),
  cost,
  blockSize,
  parallelism: 1,
});

export function deriveKey(passphrase: string, { salt, cost, parallelism }: Derivation): Promise<Buffer> {
  const options = { N: cost, r: blockSize, p: parallelism, maxmem: 128 * cost * blockSize + (1 << 20) };
  return new Promise((resolve, reject) => {
    // The same passphrase typed on another keyboard may come in other code points.
    scrypt(passphrase.normalize("NFC"), Buffer.from(salt, "base64"), keyBytes, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

/** For a passphrase that is chosen now. */
export function checkNewPassphrase(passphrase: string | undefined): string {
  if (passphrase === undefined || passphrase.trim() === "") {
    throw new AgentBoxError("input.invalid", "The passphrase is empty.", { hint: "Choose a longer one." });
  }
  return passphrase;
}

export const wrongPassphrase = (what: string): AgentBoxError =>
  new AgentBoxError("vault.wrong_passphrase", `The passphrase does not open ${what}.`, {
    hint: "Try again; nothing was changed.",
  });
