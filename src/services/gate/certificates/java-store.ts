/**
 * A Java key store of trusted certificates with one more in it. Only the format JKS, which Debian and Fedora write; every Java
 * reads it. keytool would do the same with a JVM that takes half a second of a processor at every start of a new installation.
 */
import { createHash } from "node:crypto";
import { AgentBoxError } from "../../../base/errors.ts";

const magic = 0xfeedfeed;
const version = 2;
const trustedCertificate = 2;
const headBytes = 12;
const digestBytes = 20;
/** It protects nothing: a store of public certificates has this password everywhere. */
const password = "changeit";

export interface JavaCertificate {
  readonly alias: string;
  readonly der: Buffer;
  readonly madeAtMs: number;
}

export const isJavaStore = (store: Buffer): boolean =>
  store.length >= headBytes + digestBytes &&
  store.readUInt32BE(0) === magic &&
  store.readUInt32BE(4) === version;

/** Throws for a store with another password, or one that is not whole: what is in it could not be kept. */
export function withJavaCertificate(store: Buffer, certificate: JavaCertificate): Buffer {
  const content = store.subarray(0, -digestBytes);
  if (!isJavaStore(store) || !digestOf(content).equals(store.subarray(-digestBytes))) {
    throw new AgentBoxError(
      "gate.start_failed",
      "The host's Java key store is damaged or has another password.",
      {
        hint: "Make it again: update-ca-certificates -f",
      },
    );
  }
  const head = Buffer.from(content.subarray(0, headBytes));
  head.writeUInt32BE(content.readUInt32BE(8) + 1, 8);
  const extended = Buffer.concat([head, content.subarray(headBytes), entryOf(certificate)]);
  return Buffer.concat([extended, digestOf(extended)]);
}

function entryOf({ alias, der, madeAtMs }: JavaCertificate): Buffer {
  const time = Buffer.alloc(8);
  time.writeBigInt64BE(BigInt(madeAtMs));
  return Buffer.concat([
    uint32(trustedCertificate),
    shortText(alias),
    time,
    shortText("X.509"),
    uint32(der.length),
    der,
  ]);
}

/** The format's own checksum. The words are Sun's. */
const digestOf = (content: Buffer): Buffer =>
  createHash("sha1")
    .update(Buffer.from(password, "utf16le").swap16())
    .update("Mighty Aphrodite")
    .update(content)
    .digest();

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function shortText(text: string): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(Buffer.byteLength(text));
  return Buffer.concat([bytes, Buffer.from(text)]);
}
