/** Credentials: long, drawn by chance, and only ever kept as digests. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 bits: no number of tries finds one. */
export const freshCredential = (prefix = ""): string => prefix + randomBytes(32).toString("base64url");

export const freshId = (): string => randomBytes(8).toString("hex");

/** No salt and no stretching: what it is made of cannot be guessed, unlike a password. */
export const digestOf = (credential: string): string => createHash("sha256").update(credential).digest("hex");

export const isSameDigest = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
